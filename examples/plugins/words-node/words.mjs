// A plugin for Node: newline-delimited JSON-RPC on standard input and output. Standard error is a log.
import { createInterface } from "node:readline";

const offer = {
  tools: [
    {
      name: "count_words",
      toolset: "words",
      emoji: "🔢",
      description: "Count the words of a text.",
      schema: {
        type: "object",
        properties: { text: { type: "string", description: "The text" } },
        required: ["text"],
      },
    },
  ],
  hooks: ["pre_tool_call"],
  commands: [{ name: "words", description: "Count the words behind the command", usage: "TEXT" }],
};

const count = (text) => text.split(/\s+/).filter(Boolean).length;

const methods = {
  initialize: () => offer,
  ping: () => ({}),
  "tool.call": async ({ arguments: { text } }) => ({ result: { words: count(text) } }),
  "command.run": ({ arguments: text }) => ({ text: `${count(text)} words` }),
  // Answers of a hook: nothing, {action: "block", message}, {action: "approve"} or {action: "rewrite", args}.
  hook: ({ payload: { tool_name, args } }) => {
    const secret = tool_name === "terminal" && String(args.command).includes("secrets.txt");
    return { answers: secret ? [{ action: "block", message: "secrets.txt stays closed" }] : [] };
  },
};

const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // A notification, such as `cancel`.
  const run = methods[method];
  if (!run) {
    say({ id, error: { code: -32601, message: `no method ${method}` } });
    continue;
  }
  // Not awaited: calls overlap.
  Promise.resolve()
    .then(() => run(params))
    .then((result) => say({ id, result }))
    .catch((error) => say({ id, error: { code: -32000, message: String(error) } }));
}
