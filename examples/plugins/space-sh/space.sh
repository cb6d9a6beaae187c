#!/bin/sh
# A plugin in plain shell: one message per line in, one per line out. What it writes to standard error
# goes to the log. A message begins with {"jsonrpc":"2.0","id":N,"method":"…" and holds no spaces
# between its parts, so that sed can cut it.

offer='{"tools":[{
  "name":"free_space","toolset":"space","emoji":"💾",
  "description":"Tell how many kilobytes are free on the disk that holds a path.",
  "schema":{"type":"object","properties":{"path":{"type":"string","description":"A path"}},"required":["path"]}
}],"commands":[{"name":"space","description":"Free room where the chat was started","usage":""}]}'

answer() { # id, result
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$(printf '%s' "$2" | tr -d '\n')"
}

free() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }'; }

while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
    case $line in
    *'"method":"initialize"'*) answer "$id" "$offer" ;;
    *'"method":"ping"'*) answer "$id" '{}' ;;
    *'"method":"tool.call"'*)
        path=$(printf '%s' "$line" | sed -n 's/.*"arguments":{"path":"\([^"\\]*\)"}.*/\1/p')
        left=$(free "$path")
        if [ -n "$left" ]; then
            answer "$id" "{\"result\":{\"path\":\"$path\",\"free_kb\":$left}}"
        else
            answer "$id" '{"result":{"error":"there is no such path"}}'
        fi
        ;;
    *'"method":"command.run"'*) answer "$id" "{\"text\":\"$(free .) kB are free\"}" ;;
    esac
done
