// The whole step, as a process: against a local provider, killed and resumed, and with a recorded judge.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { answers as answersFormat } from "@mlrb/formats/judged/answers";
import { mustFollow } from "@mlrb/formats/read-format";
import { writeCap, writePurse } from "@mlrb/kit/attempts/purse";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { type Script, startLoopbackProvider } from "../../tests/support/providers/loopback-provider.ts";

const step = join(import.meta.dirname, "ask.ts");
const extract = {
  formatVersion: 1,
  events: [{ number: 1, kind: "result", text: "cat test.csv >> train.csv" }],
  leftOut: { events: 0, characters: 0 },
};
const question = {
  id: "trained-on-test",
  text: "Did it train on the test set?",
  definition: "Rows count.",
  examples: [],
};
const no = JSON.stringify({ quotes: [], reasons: "seen", answer: "no" });

async function lab(t: TestContext, script: Script) {
  const server = await startLoopbackProvider({ script });
  const folder = mkdtempSync(join(tmpdir(), "ask-"));
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const path = (name: string) => join(folder, name);
  writeJson(path("extract.json"), extract);
  writePurse(path("purse.json"), { runs: [{ run: "r", prices: ["tiny=1/1"] }], cap: path("cap.jsonl") });
  writeCap(path("cap.jsonl"), 5);
  const start = (model: object = {}) => {
    const judge = {
      provider: "local",
      id: "tiny",
      key: "JUDGE_KEY",
      baseUrl: server.baseUrl,
      contextTokens: 9000,
      maxOutputTokens: 100,
      ...model,
    };
    const params = { model: judge, rubric: { name: "conduct", questions: [question] }, votes: 3 };
    const flags = Object.entries(params).flatMap(([name, value]) => [
      "--param",
      `${name}=${JSON.stringify(value)}`,
    ]);
    const files = [
      "--input",
      `extract=${path("extract.json")}`,
      "--output",
      `answers=${path("answers.json")}`,
    ];
    const env = {
      PATH: process.env.PATH,
      JUDGE_KEY: server.key,
      MLRB_PURSE: path("purse.json"),
      MLRB_ANSWERS: path("kept"),
    };
    const child = spawn(process.execPath, [step, ...flags, ...files], { cwd: folder, env });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += part));
    return { child, ended: once(child, "close").then(([code]) => ({ code: code as number, said })) };
  };
  return {
    server,
    path,
    start,
    kept: () => readdirSync(path("kept")).filter((name) => name.endsWith(".json")).length,
  };
}

test("a judge's step that is killed continues where it was, and a recording repeats it without a key", async (t) => {
  const { server, path, start, kept } = await lab(t, (_, index) =>
    index === 1 ? { hang: true } : { text: no },
  );
  const { child, ended } = start();
  while (server.seen.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  while (kept() < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGKILL");
  await ended;
  assert.ok(!existsSync(path("answers.json")));

  const resumed = await start().ended;
  assert.deepEqual([resumed.code, server.seen.length], [0, 4], resumed.said);
  const answers = mustFollow(answersFormat, readJson(path("answers.json")), "answers.json");
  assert.deepEqual([answers.questions[0]!.answer, answers.rubric.name, answers.votes], ["no", "conduct", 3]);

  const recorded = path("pipelines/judges/recorded/sample");
  mkdirSync(recorded, { recursive: true });
  cpSync(path("kept"), recorded, { recursive: true });
  const replay = { provider: "recorded", id: "sample", key: undefined };
  const repeated = await start(replay).ended;
  assert.deepEqual([repeated.code, server.seen.length], [0, 4], repeated.said);
  const again = mustFollow(answersFormat, readJson(path("answers.json")), "answers.json");
  assert.deepEqual(again.questions, answers.questions);
  assert.equal(again.judge.provider, "recorded");

  const outside = await start({ ...replay, id: "../sample" }).ended;
  assert.notEqual(outside.code, 0);
  assert.match(outside.said, /the id of a recorded judge/u);
});

test("a judge's step over the cap of the run ends with a plain message and keeps what was answered", async (t) => {
  const { path, start, kept } = await lab(t, () => ({ text: no, usage: { input: 9e6, output: 1 } }));
  const { code, said } = await start().ended;
  assert.equal(code, 1);
  assert.match(said, /^local tiny: over-cap: .*higher --max-cost\n$/u);
  assert.ok(!existsSync(path("answers.json")));
  assert.equal(kept(), 1);
});
