import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { JudgeRequest } from "@mlrb/formats/judged/judge-answer";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { judged, reply } from "../testing/judge-lab.ts";
import { answerStore, recordedAnswers } from "./answer-store.ts";
import { JudgeTrouble } from "./ask-rubric.ts";

const request: JudgeRequest = {
  ...{ extract: "a".repeat(64), rubric: "conduct", question: { id: "q" }, model: { id: "m" } },
  ...({ promptVersion: 1, vote: 1, call: { kind: "read", piece: 1, pieces: 1 }, again: false } as const),
};
const paid = { request, text: "no", usage: null, dollars: 0.5, answeredBy: null };
const day = () => "2026-11-30";
const files = (folder: string) => readdirSync(folder).sort();

function lab(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "answers-"));
  t.after(() => removeFolder(folder));
  const told: string[] = [];
  return { folder, told, store: answerStore(folder, (problem) => told.push(problem), day) };
}

test("an answer is kept in a file with its request, its whole text, its cost and its day", (t) => {
  const { folder, store } = lab(t);
  assert.equal(store.get(request), undefined);
  store.put(paid);
  const [name, ...others] = files(folder);
  assert.deepEqual(others, []);
  assert.match(name!, /^[0-9a-f]{64}\.json$/u);
  const kept = { formatVersion: 1, ...paid, day: "2026-11-30" };
  assert.deepEqual(JSON.parse(readFileSync(join(folder, name!), "utf8")), kept);
  assert.deepEqual(answerStore(folder).get(request), kept, "another process finds it");
});

for (const [what, change] of [
  ["extract", { extract: "b".repeat(64) }],
  ["rubric", { rubric: "other" }],
  ["question", { question: { id: "q", definition: "other" } }],
  ["model", { model: { id: "m", temperature: 0 } }],
  ["prompt version", { promptVersion: 2 }],
  ["vote", { vote: 2 }],
  ["piece", { call: { kind: "read", piece: 2, pieces: 2 } }],
  ["kind of call", { call: { kind: "support", answer: "yes", quotes: "c".repeat(64) } }],
  ["repetition", { again: true }],
] as [string, Partial<JudgeRequest>][])
  test(`an answer does not serve another ${what}`, (t) => {
    const { store } = lab(t);
    store.put(paid);
    assert.equal(store.get({ ...request, ...change }), undefined);
  });

test("the first of two answers to one request stays, and both processes use it", (t) => {
  const { folder, store } = lab(t);
  const first = store.put(paid);
  assert.deepEqual(answerStore(folder).put({ ...paid, text: "yes" }), first);
  assert.deepEqual(store.get(request), first);
  assert.equal(files(folder).length, 1);
});

for (const [what, spoil] of [
  ["is torn", (text: string) => text.slice(0, 40)],
  ["is empty", () => ""],
  ["is of a later version", (text: string) => text.replace('"formatVersion": 1', '"formatVersion": 2')],
  ["answers another request", (text: string) => text.replace('"vote": 1', '"vote": 2')],
] as [string, (text: string) => string][])
  test(`a file that ${what} is told, stays as it is, and is asked for again`, (t) => {
    const { folder, told, store } = lab(t);
    store.put(paid);
    const path = join(folder, files(folder)[0]!);
    const spoiled = spoil(readFileSync(path, "utf8"));
    writeFileSync(path, spoiled);
    assert.equal(store.get(request), undefined);
    assert.equal(told.length, 1);
    assert.ok(told[0]!.startsWith(`${path}: `), told.join());
    assert.match(told[0]!, /; the judge is asked again, and the file stays$/u);
    store.put({ ...paid, text: "asked again" });
    assert.equal(store.get(request)?.text, "asked again");
    assert.equal(readFileSync(path, "utf8"), spoiled);
  });

test("on a full disk the stage ends and says what is lost", {
  skip: spawnSync("unshare", ["-rm", "true"]).status !== 0 && "no user namespaces here",
}, (t) => {
  const { folder } = lab(t);
  const program = `
    const { answerStore } = await import(${JSON.stringify(join(import.meta.dirname, "answer-store.ts"))});
    const store = answerStore(${JSON.stringify(folder)});
    try {
      store.put({ ...${JSON.stringify(paid)}, text: "x".repeat(100_000) });
    } catch (error) {
      console.log(error.constructor.name, error.message);
    }`;
  const script = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" --input-type=module -e "$3"';
  const ran = spawnSync("unshare", ["-rm", "sh", "-c", script, "sh", folder, process.execPath, program], {
    encoding: "utf8",
  });
  assert.equal(
    ran.stdout.trim(),
    `JudgeTrouble ${folder}: the disk is full, so an answer that cost 0.5 dollars is lost`,
    ran.stderr,
  );
});

test("a recorded judge answers from files that any judge wrote, and pays nothing", async (t) => {
  const { folder, store } = lab(t);
  const live = await judged(() => reply("no"), { answers: store });
  const judge = { provider: "recorded", id: "sample", contextTokens: 100_000 };
  const replayed = await judged(() => "never", { answers: recordedAnswers(folder), judge });
  assert.equal(replayed.calls.length, 0);
  assert.deepEqual(replayed.answers.questions, live.answers.questions);
  const { id, answeredBy, family } = replayed.answers.judge;
  assert.deepEqual([id, answeredBy, family], ["sample", ["qwen2.5-7b-0919"], "qwen"]);
});

test("a recorded judge names a missing answer and how to record it", async (t) => {
  const { folder, store } = lab(t);
  await judged(() => reply("no"), { answers: store, votes: 2 });
  for (const recorded of [folder, join(folder, "missing")]) {
    const { trouble, calls } = await judged(() => "never", { answers: recordedAnswers(recorded), votes: 3 });
    assert.ok(trouble instanceof JudgeTrouble);
    assert.match(
      trouble.message,
      /has no answer to trained-on-test, vote [13], read, of the extract [0-9a-f]{64}\n {2}help: run the stage with the judge to record, then copy the new files of \.mlrb\/answers into this folder$/u,
    );
    assert.equal(calls.length, 0);
  }
});

test("a recording with a README.md answers with its text how to record again", async (t) => {
  const { folder } = lab(t);
  writeFileSync(join(folder, "README.md"), "Run the script again.\n");
  const { trouble } = await judged(() => "never", { answers: recordedAnswers(folder) });
  assert.match(trouble!.message, /of the extract [0-9a-f]{64}\n {2}help: Run the script again\.$/u);
});

test("a recording with a file of another format is refused by its name", (t) => {
  const { folder } = lab(t);
  writeFileSync(join(folder, "a.json"), "{}");
  assert.throws(() => recordedAnswers(folder), /a\.json: formatVersion is missing/u);
});
