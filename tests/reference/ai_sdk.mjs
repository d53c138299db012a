// Runs the modules of docs/howto/dialects.md with the AI SDK and a model that says what a script says; prints JSON.
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { boardTools } from "./board.mjs";
import { ask } from "./loop.mjs";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

function says(content, finish) {
  return { content, finishReason: { unified: finish, raw: finish }, usage, warnings: [] };
}

const call = { type: "tool-call", toolCallId: "call_1", toolName: "add", input: JSON.stringify({ a: 1, b: 2 }) };
const script = () => [says([call], "tool-calls"), says([{ type: "text", text: "3" }], "stop")];

const model = new MockLanguageModelV4({ doGenerate: script() });
const text = await ask(model, "Add 1 and 2.");
const [first, second] = model.doGenerateCalls;

// The loop of a user's own: the board gets the messages as they are.
const { url, key } = { url: process.env.PEGBOARD_URL, key: process.env.PEGBOARD_KEY };
const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
const tools = Object.fromEntries(
  Object.entries(await boardTools()).map(([name, { execute, ...rest }]) => [name, rest]),
);
const own = new MockLanguageModelV4({ doGenerate: script() });
const messages = [{ role: "user", content: "Add 1 and 2." }];
const answers = [];
for (let turn = 0; turn < 3; turn += 1) {
  const result = await generateText({ model: own, messages, tools });
  messages.push(...result.response.messages);
  const body = JSON.stringify(result.response.messages);
  const answer = await (await fetch(`${url}/v1/calls?from=vercel`, { method: "POST", headers, body })).json();
  answers.push(answer);
  if (answer.content.length === 0) break;
  messages.push(answer);
}

console.log(JSON.stringify({ text, tools: first.tools, told: second.prompt.at(-1), answers }));
