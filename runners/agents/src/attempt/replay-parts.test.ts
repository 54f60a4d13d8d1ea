import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import type { Json } from "@mlrb/formats/schema";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { type Reply, startLoopbackProvider } from "../../../../tests/support/providers/loopback-provider.ts";
import { ReplayMiss } from "../record/replay-miss.ts";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import { priceBook } from "../spending/prices.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { runAttempt } from "./run-attempt.ts";

const root = mkdtempSync(join(tmpdir(), "replays-"));
after(() => removeFolder(root));
const hourMs = 3_600_000;

async function attempt(changes: Partial<AttemptRequest>) {
  const folder = mkdtempSync(join(root, "a-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "scratch", "submission"]) mkdirSync(at(name));
  const outputs = {
    submission: at("submission"),
    trajectory: at("trajectory.jsonl"),
    ledger: at("ledger.json"),
    snapshots: at("snapshots"),
  };
  const sandbox = await plainSandbox(at("work"));
  try {
    const ledger = await runAttempt(sandbox, {
      ...{ task: "letters", agent: "writer", seed: 2, kind: "replay", command: [] },
      prompt: "Until {{deadline}}.",
      publicData: at("data"),
      budget: { timeMs: 10 * hourMs },
      prices: priceBook([{ run: null, prices: ["told=1000/10000"] }], new Map()),
      ...{ outputs, scratch: at("scratch"), limits: { bytesMax: 1 << 20, filesMax: 100 }, pollMs: 50 },
      ...changes,
    });
    const events = readFileSync(outputs.trajectory, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const index = JSON.parse(readFileSync(join(outputs.snapshots, "index.json"), "utf8"));
    return {
      ledger,
      events,
      outputs,
      snapshots: index.snapshots as { name: string; sinceStartMs: number }[],
    };
  } finally {
    await sandbox.close();
  }
}

const answer = (minutes: number, calls: Json[], more = {}) => ({
  ...{ text: "I work.", minutes, tokens: { input: 100, output: 10 }, calls, ...more },
});
const write = (text: string, minutes: number) => ({
  ...{ tool: "shell", writes: true, minutes },
  input: { command: `echo ${text} > submission/model; echo "loss $(wc -c < submission/model)"` },
});

/** A folder with the authored recording of `writer` at `letters`. */
function authored(answers: object[], outputs: Record<string, string[]>) {
  const folder = mkdtempSync(join(root, "authored-"));
  mkdirSync(join(folder, "letters"));
  const model = { provider: "nobody", id: "told", contextTokens: 9000 };
  const seeds = { 1: { pace: 1, word: "a" }, 2: { pace: 2, word: "longer" } };
  const recording = { formatVersion: 1, model, scaffold: { kind: "react" }, seeds, answers };
  writeFileSync(join(folder, "letters/writer.yaml"), JSON.stringify(recording)); // JSON is YAML
  writeFileSync(join(folder, "letters/writer.outputs.json"), JSON.stringify(outputs));
  return folder;
}

const answers = [
  answer(30, [{ ...write("{{word}}", 60), as: "first" }]),
  answer(30, [{ tool: "note", input: { text: "it was {{first}}" } }]),
  answer(30, [write("{{word}}{{word}}", 90)]),
  answer(10, [{ tool: "submit" }]),
];
const printed = { 2: ["exit code 0\nloss 7\n", "exit code 0\nloss 13\n"] };

test("an authored replay has the times, tokens and outputs of its recording on every machine, and the files of its programs", async () => {
  const begun = performance.now();
  const { ledger, events, outputs, snapshots } = await attempt({ recording: authored(answers, printed) });
  assert.ok(performance.now() - begun < 60_000);
  assert.equal(readFileSync(join(outputs.submission, "model"), "utf8"), "longerlonger\n");
  assert.deepEqual(ledger.replay, { recording: "authored", tools: "recorded" });
  assert.equal(ledger.ended, "submitted");
  assert.equal(ledger.wallMs, 2 * 250 * 60_000); // twice as slow as written
  assert.equal(ledger.dollars, (8 * 100 * 1000 + 8 * 10 * 10_000) / 1e6);
  assert.deepEqual(
    snapshots.map(({ name, sinceStartMs }) => [name, sinceStartMs / hourMs]),
    [
      ["0001", 3],
      ["0002", 8],
    ],
  );
  const times = events.map(({ sinceStartMs, time }) => [sinceStartMs, Date.parse(time)] as const);
  assert.deepEqual(
    times.map(([since, time]) => time - since),
    times.map(() => times[0]![1]),
  );
  assert.ok(times.at(-1)![1] <= Date.now());
  const results = events.filter(({ event }) => event === "tool-result");
  assert.deepEqual(
    results.map(({ text, durationMs }) => [text.split("\n").at(1), durationMs / 60_000]),
    [
      ["loss 7", 120],
      [undefined, 0],
      ["loss 13", 180],
      [undefined, 0],
    ],
  );
  assert.equal(events.find(({ event }) => event === "note").text, "it was 7");
});

test("with live tools an authored replay stops at the first output that differs", async () => {
  const same = await attempt({ recording: authored(answers, printed), liveTools: true });
  assert.deepEqual(same.ledger.replay, { recording: "authored", tools: "live" });
  assert.ok(same.ledger.wallMs < hourMs);
  const other = authored(answers, { 2: ["exit code 0\nloss 8\n"] });
  await assert.rejects(attempt({ recording: other, liveTools: true }), {
    constructor: ReplayMiss,
    message: String.raw`the replay does not fit its recording: tool call 1 (shell) printed "exit code 0\nloss 7\n", and in it "exit code 0\nloss 8\n"`,
  });
});

test("a recording that does not fit says what is missing, in one sentence", async () => {
  const failing = { tool: "shell", writes: true, input: { command: "echo no; exit 3" } };
  for (const [recording, message] of [
    [authored(answers.slice(0, 2), printed), /it ends after 2 answers, and the agent asks for another one$/],
    [authored(answers, {}), /it has no output of tool call 1 \(shell\); run it with --live-tools$/],
    [
      authored([answer(1, [failing])], printed),
      /call 1 \(shell\) did not write its files again: "exit code 3\\nno/,
    ],
    [authored([answer(1, [], { text: "{{lost}}" })], printed), /\{\{lost\}\} has no value in its authored/],
    [authored([answer(1, [], { seeds: [3], text: 1 })], printed), /answers\.0\.text is 1, not a text$/],
  ] as const)
    await assert.rejects(attempt({ recording }), { constructor: ReplayMiss, message });
  const none = { recording: authored(answers, printed) };
  await assert.rejects(attempt({ ...none, seed: 9 }), /seeds has no 9; choose one of 1, 2$/);
  await assert.rejects(attempt({ ...none, task: "numbers" }), /there is no recording of writer at numbers$/);
  writeFileSync(join(none.recording, "letters/writer.yaml"), "seeds: {1: [\n");
  await assert.rejects(attempt(none), {
    constructor: ReplayMiss,
    message: /writer\.yaml: .* at line 2, column 1$/,
  });
});

async function recorded(t: TestContext) {
  const call = (name: string, input: object): Reply => ({ toolCalls: [{ name, input: { ...input } }] });
  const provider = await startLoopbackProvider({
    key: null,
    script: [
      call("shell", { command: "echo one > submission/model; date +%N" }),
      call("shell", { command: "sleep 3" }),
      call("shell", { command: "echo two > submission/model; date +%N" }),
      call("submit", {}),
    ],
  });
  t.after(() => provider.close());
  const model = { provider: "p", id: "m", baseUrl: provider.baseUrl, contextTokens: 9000, free: true };
  const llm = { model, scaffold: { kind: "react" as const } };
  const { outputs, ledger } = await attempt({ kind: "llm", llm, budget: { timeMs: 60_000 }, pauseMs: 10 });
  const folder = dirname(outputs.trajectory);
  const recording = mkdtempSync(join(root, "recorded-"));
  for (const name of ["trajectory.jsonl", "submission", "snapshots"])
    cpSync(join(folder, name), join(recording, name), { recursive: true });
  return { recording, ledger };
}

test("the recording of a model's attempt is replayed with its results and files, of programs that never print the same", async (t) => {
  const { recording, ledger: live } = await recorded(t);
  assert.ok(existsSync(join(recording, "snapshots/0001")));
  const { ledger, snapshots } = await attempt({ recording, budget: { timeMs: 60_000 } });
  assert.deepEqual(ledger.replay, { recording: "recorded", tools: "recorded" });
  assert.equal(ledger.submission.digest, live.submission.digest);
  assert.equal(ledger.dollars, 0);
  assert.equal(snapshots.length, 2);
  await assert.rejects(
    attempt({ recording, liveTools: true }),
    /does not fit its recording: call 2 is not in it .* matches the recording up to message 2/,
  );
  removeFolder(join(recording, "submission"));
  await assert.rejects(attempt({ recording }), /has no files; copy submission\/ and snapshots\//);
  assert.deepEqual(readdirSync(recording).sort(), ["snapshots", "trajectory.jsonl"]);
});
