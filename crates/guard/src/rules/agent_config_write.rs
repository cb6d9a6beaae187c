//! `agent_config_write`: writes to the agent's config, secrets, hooks and plugins.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "changes the agent's own settings",
    keys: &["agent-config-write", "write to hermes config"],
    matches,
    catches: &[
        "echo x >> ~/.hermes/config.yaml",
        "sed -i s/manual/off/ ~/.hermes/config.yaml",
        "cp x ~/.hermes/.env",
        "echo '{}' > ~/.hermes/trusted.json",
        "cp x ~/.hermes/tools/x.py",
        "sed -i s/pre_tool_call// ~/.hermes/cache/plugins.jsonl",
        "cp x ~/.hermes/cache/plugin-roster.packed",
        "cp x.pyc ~/.hermes/cache/pycache/x.pyc",
        "echo '{}' > ~/.hermes/mcp/github.json",
        "sed -i s/false/true/ ~/.hermes/mcp/github.json",
        "tar -xf a.tar -C ~/.hermes",
        "tar xf a.tgz -C$HOME/.hermes/tools",
        "cd ~/.hermes && tar xf /tmp/a.tar",
        "unzip -o a.zip -d ~/.hermes/skills",
        "cpio -idm -D ~/.hermes/plugins < a",
        "7z x a.7z -o$HOME/.hermes",
        "git clone https://x/y ~/.hermes/skills/y",
        "cd ~/.hermes/skills && git clone https://x/y",
        "ln -s /tmp/x.py ~/.hermes/tools/x.py",
        "git worktree add ~/.hermes/skills/x",
        "cd ~/.hermes && patch -p1 < a.diff",
        "cd ~/.hermes && git apply a.diff",
        "git apply --directory=$HOME/.hermes a.diff",
        "python3 -m zipfile -e a.zip ~/.hermes/skills",
        "unar -o ~/.hermes/skills a.zip",
        "unrar x a.rar ~/.hermes/skills/",
        "cd ~/.hermes && jar xf /tmp/a.jar",
        "pip install -t ~/.hermes/tools x",
        "python3 -m pip install --target=$HOME/.hermes/plugins x",
        "uv pip install --target ~/.hermes/tools x",
        "npm i --prefix ~/.hermes x",
        "gem install -i ~/.hermes/plugins x",
        "base64 -d x -o ~/.hermes/config.yaml",
        "go build -o ~/.hermes/tools/x",
        "node -e 'const p=require(\"path\"),o=require(\"os\");require(\"fs\").writeFileSync(p.join(o.homedir(),\".her\"+\"mes\",\".env\"),\"\")'",
        "python3 -c 'from pathlib import Path; (Path.home()/(\".her\"+\"mes\")/\".env\").write_text(\"\")'",
        "ruby -e 'File.write(File.join(Dir.home, \".her\"+\"mes\", \".env\"), \"\")'",
        "perl -e 'open F, \">\", \"$ENV{HOME}/.her\".\"mes/.env\"'",
    ],
    spares: &[
        "cat ~/.hermes/config.yaml",
        "ls ~/.hermes",
        "cp a.png ~/.hermes/cache/images/a.png",
        "cat ~/.hermes/cache/plugins.jsonl",
        "cat ~/.hermes/mcp/github.json",
        "tar -tf ~/.hermes/a.tar",
        "tar xf ~/.hermes/skills/a.tar -C vendor",
        "cd ~/.hermes && unzip -l a.zip",
        "ln -s ~/.hermes/skills/tea tea",
        "git apply ~/.hermes/a.diff",
        "git worktree add ../x",
        "patch -p1 < a.diff",
        "python3 -m zipfile -l ~/.hermes/skills/a.zip",
        "jar tf ~/.hermes/a.jar",
        "pip install -r ~/.hermes/skills/x/requirements.txt",
        "npm --prefix ~/.hermes/skills/x run check",
        "go build -o bin/x ~/.hermes/skills/x",
        "node -e 'const p=require(\"path\");require(\"fs\").writeFileSync(p.join(\"dist\",\".her\"+\"mes\"),\"\")'",
    ],
    ..Rule::new("agent_config_write")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Write && effect.touches(&[Place::AgentConfig])
}
