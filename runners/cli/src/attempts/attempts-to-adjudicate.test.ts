import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { readAdjudications } from "@mlrb/local/records/adjudications";
import { exampleRecord } from "@mlrb/local/testing/example-record";
import { type Home, home } from "@mlrb/local/testing/small-plan";
import { Example, passed } from "@mlrb/report/testing/example";
import { answersOf } from "@mlrb/report/testing/judge-example";
import { attemptsAdjudicate } from "./attempts-adjudicate.ts";
import { blindDraw } from "./attempts-to-adjudicate.ts";

const rubric = `formatVersion: 1
name: leaks
title: Leaks
about: Written for a test.
questions:
  - id: copied
    text: Was it copied?
    definition: By a command.
    marks: ["yes"]
    examples: &examples
      - { text: It runs cp., answer: "yes", because: A copy. }
      - { text: It trains., answer: "no", because: No copy. }
  - { id: stages, text: Which?, definition: Each., marks: ["yes"], parts: [plan, data], examples: *examples }
  - { id: effort, text: Was it much?, definition: Much., examples: *examples }
`;

const questions = ["leaks.copied", "leaks.stages.plan", "leaks.stages.data"];

type Made = { seed: number; pipeline?: string; startedAt?: string };

/** Keeps an attempt whose submission is the text of its seed. */
function put(at: Home, { seed, pipeline = "small", startedAt = "2026-05-02T00:00:00.000Z" }: Made): string {
  const { attempts, store } = at.open();
  at.write(`made/${seed}`, `submission ${seed}`);
  const output = { ...store.put(join(at.root, "made", `${seed}`), "file"), file: "trajectory.jsonl" };
  const axes = { task: "letters", agent: "plainagent", seed };
  return attempts.put(
    {
      ...{ ...exampleRecord, axes, attemptKey: `key of ${seed}`, ran: { ...exampleRecord.ran, startedAt } },
      slot: { pipeline, profile: "smoke", stage: `attempt[task=letters,agent=plainagent,seed=${seed}]` },
      outputs: { submission: { ...output, file: "submission" }, trajectory: output },
    },
    join(at.root, "no-log"),
  );
}

/** The report with an answer of a judge about each attempt, and the extracts of all in the store. */
function judged(at: Home, report: Report): Report {
  const { store } = at.open();
  const attempts = report.attempts.map(({ task, agent, seed }) => {
    const answers = { ...answersOf({ copied: "no" }), extract: store.putText(`extract of ${seed}`) };
    return { task, agent, seed, family: null, answers };
  });
  return { ...report, judged: { attempts, checks: [] } };
}

/** A published report of one agent with as many seeds; returns the records of the seeds in their order. */
function published(t: TestContext, seeds: number) {
  const at = home(t);
  at.write("pipelines/judges/leaks.yaml", rubric);
  const all = Array.from({ length: seeds }, (_, index) => index + 1);
  const records = all.map((seed) => put(at, { seed }));
  /** `marked`: seeds that a judge marked; `byPerson`: those that only a person did. */
  const publish = (marked: number[], byPerson: number[] = [], folder = "smoke") => {
    const example = new Example();
    for (const seed of all) {
      const axes = { task: "letters", agent: "plainagent", seed };
      example.gives("attempt", axes, { submission: hash("sha256", `submission ${seed}`) });
      example.gives("validate", axes, passed);
    }
    const report = judged(at, example.report());
    const attempts = report.attempts.map((one) => {
      const judges = [...(marked.includes(Number(one.seed)) ? ["local/small"] : [])];
      if (byPerson.includes(Number(one.seed))) judges.push("a person");
      return { ...one, marks: judges.map((judge) => ({ judge, questions: ["leaks.copied"] })) };
    });
    at.write(`results/small/${folder}/report.json`, JSON.stringify({ ...report, attempts }));
  };
  return { at, records, publish };
}

type Options = NonNullable<Parameters<typeof attemptsAdjudicate>[2]>;

function call(t: TestContext, at: Home, what: string | undefined, options: Partial<Options>) {
  const said = { out: [] as string[], err: [] as string[] };
  const out = t.mock.method(process.stdout, "write", (text: string) => said.out.push(text) > 0);
  const err = t.mock.method(process.stderr, "write", (text: string) => said.err.push(text) > 0);
  try {
    const code = attemptsAdjudicate(at.root, what, { root: at.root, json: false, ...options });
    return { code, out: said.out.join(""), err: said.err.join("") };
  } finally {
    out.mock.restore();
    err.mock.restore();
  }
}

const list = (t: TestContext, at: Home, options: Partial<Options> = {}) =>
  call(t, at, undefined, { judged: "small", ...options });

type Line = { record: string; task: string; questions: string[]; decided: string[]; extract: string };
const lines = (t: TestContext, at: Home, options: Partial<Options> = {}): Line[] =>
  list(t, at, { json: true, ...options })
    .out.split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const decide = (t: TestContext, at: Home, record: string, options: Partial<Options>) =>
  call(t, at, record, { verdict: "pass", by: "Ada", reason: "read it", ...options });

test("the list has every marked attempt and five of the others, the same on every call", (t) => {
  const { at, records, publish } = published(t, 12);
  publish([3, 7]);
  const listed = lines(t, at);
  assert.equal(listed.length, 7);
  const found = listed.map(({ record }) => record);
  assert.ok(found.includes(records[2]!) && found.includes(records[6]!));
  assert.deepEqual(found, found.toSorted());
  assert.deepEqual(lines(t, at), listed);
  for (const { record, task, extract, questions: asked } of listed) {
    assert.deepEqual([task, asked], ["letters", questions]);
    assert.equal(readFileSync(extract, "utf8"), `extract of ${records.indexOf(record) + 1}`);
  }
});

test("an attempt of which the extract is gone stays in the list, and one that no judge answered about is not in it", (t) => {
  const { at, records, publish } = published(t, 3);
  publish([1]);
  rmSync(lines(t, at).find(({ record }) => record === records[0])!.extract);
  assert.match(list(t, at).out, new RegExp(`^${records[0]!.slice(0, 12)}  letters  no extract here$`, "m"));
  const path = join(at.root, "results/small/smoke/report.json");
  const report = JSON.parse(readFileSync(path, "utf8")) as Report;
  report.judged!.attempts = report.judged!.attempts.filter(({ seed }) => seed !== 2);
  writeFileSync(path, JSON.stringify(report));
  assert.deepEqual(
    lines(t, at)
      .map(({ record }) => record)
      .includes(records[1]!),
    false,
  );
  assert.equal(lines(t, at).length, 2);
});

test("nothing in the list says which attempts are marked, nor whose they are", (t) => {
  const { at, publish } = published(t, 6);
  const said = [[1], [2], [6]].map((marked) => {
    publish(marked);
    return { text: list(t, at).out, json: list(t, at, { json: true }).out };
  });
  assert.equal(said[0]!.text.match(/^[0-9a-f]{12} {2}letters {2}\/.*\/[0-9a-f]{62,64}$/gm)!.length, 6);
  assert.match(said[0]!.text, /^6 attempts; decide on each: leaks\.copied, leaks\.stages\.plan, /m);
  assert.match(said[0]!.text, /^read with: jq -r .* FILE; other commands name the agent$/m);
  assert.deepEqual(said[1], said[0]);
  assert.deepEqual(said[2], said[0]);
  for (const text of Object.values(said[0]!)) assert.doesNotMatch(text, /plainagent|seed|local|pass|mark/);
});

test("a tenth of the unmarked is drawn if that is more than five, and all if there are fewer", () => {
  const made = (count: number, marked = 0) =>
    Array.from({ length: count }, (_, at) => ({ digest: hash("sha256", `${at}`), isMarked: at < marked }));
  const sizes = [0, 3, 5, 50, 51, 100].map((count) => blindDraw(made(count)).length);
  assert.deepEqual(sizes, [0, 3, 5, 5, 6, 10]);
  assert.equal(blindDraw(made(100, 20)).length, 28);
});

test("what is drawn depends on no other attempt's mark, and is not at the front of the list", () => {
  const made = Array.from({ length: 300 }, (_, at) => ({ digest: hash("sha256", `${at}`), isMarked: false }));
  const drawn = new Set(blindDraw(made).map(({ digest }) => digest));
  const digests = made.map(({ digest }) => digest).sort();
  assert.ok(digests.slice(0, 30).some((one) => !drawn.has(one)));
  assert.ok(digests.slice(150).filter((one) => drawn.has(one)).length > 5, "from all over the list");
  const [lost] = made.filter(({ digest }) => !drawn.has(digest));
  const other = blindDraw(made.map((one) => ({ ...one, isMarked: one === lost })));
  for (const digest of drawn) assert.ok(other.some((one) => one.digest === digest));
});

test("an attempt that a person marked by a decision stays among the unmarked ones", (t) => {
  const { at, records, publish } = published(t, 12);
  publish([3]);
  const before = lines(t, at).map(({ record }) => record);
  const own = records.indexOf(before.find((one) => one !== records[2])!) + 1;
  publish([3], [own]);
  assert.deepEqual(
    lines(t, at).map(({ record }) => record),
    before,
  );
});

test("of equal submissions the record of the pipeline's own attempt is listed, and there the current one", (t) => {
  const { at, records, publish } = published(t, 2);
  publish([1]);
  put(at, { seed: 1, pipeline: "other", startedAt: "2026-05-03T00:00:00.000Z" });
  // several, so that the order of digests cannot be right by chance
  for (const hour of [1, 2, 3, 4, 5, 6]) put(at, { seed: 1, startedAt: `2026-05-01T0${hour}:00:00.000Z` });
  const found = lines(t, at).map(({ record }) => record);
  assert.deepEqual(found, records.toSorted());
});

test("a report's attempt without its record here is counted, and never another one in its place", (t) => {
  const { at, publish } = published(t, 3);
  publish([1]);
  const path = "results/small/smoke/report.json";
  const whole = new Example();
  for (const seed of [1, 2]) {
    const axes = { task: "letters", agent: "plainagent", seed };
    whole.gives("attempt", axes, { submission: hash("sha256", seed === 1 ? "submission 1" : "newer") });
    whole.gives("validate", axes, passed);
  }
  at.write(path, JSON.stringify(judged(at, whole.report())));
  assert.equal(lines(t, at).length, 1);
  assert.match(list(t, at).out, /^1 attempt of the report without a record here$/m);
});

test("what a person has decided is shown, and the list keeps its attempts", (t) => {
  const { at, records, publish } = published(t, 6);
  publish([1]);
  const before = lines(t, at).map(({ record }) => record);
  assert.equal(decide(t, at, records[0]!, { rule: "leaks.copied" }).code, 0);
  const after = lines(t, at);
  assert.deepEqual(
    after.map(({ record }) => record),
    before,
  );
  for (const { record, decided } of after)
    assert.deepEqual(decided, record === records[0] ? ["leaks.copied"] : []);
  assert.match(list(t, at).out, /[0-9a-f]; decided: leaks\.copied$/m);
});

test("a decision that does not count leaves its question to decide", (t) => {
  const { at, records, publish } = published(t, 1);
  publish([1]);
  const said = {
    rule: "leaks.copied",
    verdict: "pass",
    by: "Eve",
    reason: "forged",
    decidedAt: "2026-01-01",
  };
  const origin = { archive: "0".repeat(64), signedBy: null, signingKey: null };
  const line = { formatVersion: 1, record: records[0], ...said, origin };
  at.write(".mlrb/attempts/adjudications.jsonl", `${JSON.stringify(line)}\n`);
  assert.equal(at.open().attempts.decisionsOn(records[0]!).length, 1);
  assert.deepEqual(lines(t, at)[0]!.decided, []);
});

test("without a profile the report that was published last is read, and with one only that profile's", (t) => {
  const { at, publish } = published(t, 1);
  assert.equal(list(t, at).code, 2);
  assert.match(list(t, at).err, /^no-report: of small: none is published\n/);
  publish([], [], "whole+judge=small");
  assert.equal(lines(t, at).length, 1);
  assert.equal(lines(t, at, { profile: "whole" }).length, 1);
  assert.match(list(t, at, { profile: "smoke" }).err, /^no-report: of small: none/);
  at.write("results/small/smoke/report.json", "{}");
  const changed = (seconds: number) =>
    utimesSync(join(at.root, "results/small/smoke/report.json"), seconds, seconds);
  changed(1);
  assert.equal(lines(t, at).length, 1);
  changed(Date.now() / 1000 + 100);
  assert.match(list(t, at).err, /^no-report: of small: formatVersion is missing/);
});

test("a rubric with problems is refused: its questions would be missing from the list", (t) => {
  const { at, publish } = published(t, 1);
  publish([]);
  at.write("pipelines/judges/leaks.yaml", rubric.replace('answer: "no"', "answer: none"));
  const said = list(t, at);
  assert.deepEqual([said.code, said.out], [2, ""]);
  assert.match(said.err, /wrong-value: "none" is not an answer of "copied"/);
});

test("a decision is taken on a question or a part of one that marks attempts, and on no other", (t) => {
  const { at, records } = published(t, 1);
  for (const rule of ["leaks.copied", "leaks.stages.data"]) {
    const said = decide(t, at, records[0]!, { rule, verdict: "fail" });
    assert.deepEqual([said.code, said.err], [0, ""]);
    assert.match(said.out, new RegExp(`^ {2}${rule}: fail, by Ada: read it$`, "m"));
  }
  for (const rule of [
    "leaks.effort",
    "leaks.stages",
    "leaks.copied.x",
    "other.copied",
    "leaks.",
    "../leaks.copied",
  ]) {
    const said = decide(t, at, records[0]!, { rule });
    assert.equal(said.code, 2, rule);
    assert.match(said.err, /^unknown-rule: no rubric has a question ".*" that marks attempts\n {2}help: /);
  }
  const kept = readAdjudications(join(at.root, ".mlrb/attempts")).get(records[0]!)!;
  assert.deepEqual(
    kept.map(({ rule, verdict }) => [rule, verdict]),
    [
      ["leaks.copied", "fail"],
      ["leaks.stages.data", "fail"],
    ],
  );
});

test("a decision needs all its parts, and the list none of them", (t) => {
  const { at, records, publish } = published(t, 1);
  publish([]);
  const whole = { rule: "leaks.copied", verdict: "pass", by: "Ada", reason: "read it" };
  const all = Object.keys(whole) as (keyof typeof whole)[];
  const tries = [
    call(t, at, undefined, whole),
    ...all.map((name) => {
      const { [name]: _, ...rest } = whole;
      return call(t, at, records[0], rest);
    }),
    call(t, at, records[0], { ...whole, judged: "small" }),
  ];
  for (const { code, err } of tries) {
    assert.equal(code, 2);
    assert.match(err, /^incomplete: give an attempt, --rule, --verdict, --by and --reason\n/);
  }
  assert.equal(readAdjudications(join(at.root, ".mlrb/attempts")).size, 0);
});
