import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, type TestContext, test } from "node:test";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Report } from "@mlrb/formats/report";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { type Home, home, smallPlan } from "@mlrb/local/testing/small-plan";
import { anchorRows, Example, passed, scored, textItems } from "@mlrb/report/testing/example";
import { reportAgainst } from "./report-against.ts";

const attemptId = "attempt[task=letters,agent=plain,seed=1]";
const dataId = "data[task=letters]";
const axes = { task: "letters", agent: "plain", seed: 1 };
const scoreId = "score[task=letters,agent=plain,seed=1,scorer=bits]";
const validateId = "validate[task=letters,agent=plain,seed=1]";

function plan(): Plan {
  const made = smallPlan(
    { name: "data", axes: { task: "letters" }, gives: { private: "dir" } },
    { name: "attempt", axes, gives: { submission: "dir" }, durable: true },
    { name: "validate", axes, needs: { submission: `${attemptId}.submission` }, gives: { clean: "dir" } },
    {
      name: "score",
      axes: { ...axes, scorer: "bits" },
      needs: { clean: `${validateId}.clean`, private: `${dataId}.private` },
      gives: { score: "file", samples: "file" },
      action: { run: { kind: "python", file: "measure.py" } },
    },
    { name: "report", gives: { report: "dir" }, publishes: true },
  );
  made.instances.find(({ id }) => id === scoreId)!.stage.role = "score";
  return made;
}

type Ran = {
  run: string;
  level: number;
  submission?: string;
  /** Digest of the scorer's file. */
  scorer?: string;
  data?: string;
  /** Digest of the code that makes the clean folder, whose bytes follow from it and from the submission. */
  validate?: string;
  /** Whether the journal lacks the stage that made the clean folder. */
  torn?: boolean;
};

const digest = (letter: string) => letter.repeat(64);

/** A run as its journal, the cache and the published results show it. */
class Runs {
  readonly at: Home;
  readonly plan = plan();
  constructor(t: TestContext) {
    this.at = home(t);
  }

  add({
    run,
    level,
    submission = digest("5"),
    scorer = "1",
    data = digest("d"),
    validate = "1",
    torn = false,
  }: Ran): Report {
    const workspace = this.at.open();
    const { store, state } = workspace;
    const example = new Example();
    const gives = scored("bits", textItems(level));
    example.gives(
      "anchors",
      { task: "letters", scorer: "bits" },
      anchorRows("bits", [{ name: "unigram", value: 9, standardError: 0.01 }]),
    );
    example.gives("attempt", axes, { submission });
    example.gives("validate", axes, passed);
    example.gives("score", { ...axes, scorer: "bits" }, gives);
    const report = example.report();
    const file = (text: string) => ({ kind: "file" as const, digest: store.putText(text) });
    const results = join(this.at.root, "made");
    mkdirSync(results, { recursive: true });
    writeFileSync(join(results, "report.json"), JSON.stringify(report));
    const lines: object[] = [{ event: "begin", run, pipeline: "small", profile: "smoke", selection: "" }];
    const clean = digest(validate === "1" ? submission[0]! : "c");
    const put = (id: string, parts: Partial<KeyParts>, outputs: object) => {
      const key = store.putText(JSON.stringify([id, parts]));
      const codeFiles = store.putText(JSON.stringify(parts.code ?? {}));
      const where = { run, stage: id, startedAt: "", durationMs: 1, executor: "local", host: "h" };
      workspace.actions.put({
        ...{ formatVersion: 1, key, codeFiles, ran: where },
        parts: { ...wholeParts, ...parts },
        outputs: outputs as Record<string, { kind: "file"; digest: string }>,
      });
      workspace.last.put({ id, key, durationMs: 1 });
      lines.push({ event: "stage", stage: id, outcome: { kind: "succeeded" }, key });
    };
    const code = { "validate.py": digest(validate) };
    put(validateId, { code, inputs: { submission } }, { clean: { kind: "dir", digest: clean } });
    put(
      scoreId,
      {
        run: { kind: "python", file: "measure.py" },
        code: { "measure.py": digest(scorer) },
        inputs: { clean, private: data },
      },
      { score: file(JSON.stringify(gives.score)), samples: file(gives.samples) },
    );
    put("report", { params: { run } }, { report: store.put(results, "dir") });
    mkdirSync(state.journals, { recursive: true });
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const kept = torn ? text.replace(/^.*"validate\[.*\n/m, "") : text;
    writeFileSync(join(state.journals, `${run}.jsonl`), kept);
    return report;
  }

  /** Compares the last results. */
  compare(against: string, options: { json?: boolean; markdown?: boolean } = {}) {
    const said = { out: [] as string[], err: [] as string[] };
    const out = mock.method(process.stdout, "write", (text: string) => said.out.push(text) > 0);
    const err = mock.method(process.stderr, "write", (text: string) => said.err.push(text) > 0);
    const code = reportAgainst({
      ...{ plan: this.plan, workspace: this.at.open(), folder: join(this.at.root, "made"), against },
      ...{ options: { json: false, markdown: false, ...options }, run: "run it", age: ["up to date"] },
    });
    out.mock.restore();
    err.mock.restore();
    return { code, out: said.out.join(""), err: said.err.join("") };
  }
}

const wholeParts: KeyParts = {
  ...{ keyFormat: 1, run: { kind: "command", command: "x" }, code: {}, files: {}, params: {}, axes: {} },
  ...{ inputs: {}, outputs: {}, env: {}, budget: {}, environment: null, host: null },
};

const oneLine = (text: string) => text.replace(/\s+/g, " ");

const first = "20260101T000000Z-a";
const second = "20260102T000000Z-b";

test("against a run, a corrected scorer is the cause with both digests, and nothing is tested", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 2.9, scorer: "2" });
  const { code, out, err } = runs.compare(first);
  assert.deepEqual([code, err], [0, ""]);
  assert.match(
    out,
    /^\nCompared with run 20260101T000000Z-a\n1 cell: 1 changed, 0 equal; rescored 1 of 1 scores: bits/,
  );
  assert.match(out, /letters, bits, plain: score: code changed: measure\.py \(1{10} → 2{10}\)/);
  assert.match(out, /item noise not tested: measured in another way/);
  assert.match(out, /\nup to date\n$/);
});

test("against a run, other data are the cause, with the digest that changed", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 2.5, submission: digest("6"), data: digest("e") });
  const { out } = runs.compare(first);
  assert.match(
    oneLine(out),
    /another submission \(5{10} → 6{10}\); score: input changed: private of data\[task=letters\] \(d{10} → e{10}\)/,
  );
  assert.match(out, /item noise not tested: measured in another way/);
});

test("another submission under the same scorer and data is tested on its items", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 2.5, submission: digest("6") });
  const { out } = runs.compare(first);
  assert.match(out, /│ yes \(−0\.500 ± 0, +│ too few attempts │\n│.*│ 25 items\) +│/);
  assert.match(out, /- letters, bits, plain: another submission \(5{10} → 6{10}\)\n/);
});

test("code between the submission and its score is a cause under its own stage", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 2.5, validate: "2" });
  const { out } = runs.compare(first);
  assert.match(oneLine(out), /bits, plain: validate: code changed: validate\.py \(1{10} → 2{10}\) - letters/);
  assert.match(oneLine(out), /item noise not tested: measured in another way/);
});

test("a stage whose key is not known counts as a changed measurement", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3, torn: true });
  runs.add({ run: second, level: 2.5, submission: digest("6") });
  const { out } = runs.compare(first);
  assert.match(oneLine(out), /validate: it is not stored how clean was made \(5{10} → 6{10}\)/);
  assert.match(oneLine(out), /item noise not tested: measured in another way/);
});

test("a cache entry with another number than the report prints explains nothing", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  const report = runs.add({ run: second, level: 2.5, submission: digest("6") });
  report.attempts[0]!.scores.bits = { ...report.attempts[0]!.scores.bits!, value: 2.4 } as never;
  writeFileSync(join(runs.at.root, "made", "report.json"), JSON.stringify(report));
  const { out } = runs.compare(first);
  assert.match(out, /item noise not tested: no seed has two valid scores \(now: unreadable/);
});

test("a folder of results and a report.json are compared without digests of the scorer", (t) => {
  const runs = new Runs(t);
  const old = runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 2.9, scorer: "2" });
  const folder = join(runs.at.root, "elsewhere");
  mkdirSync(folder);
  writeFileSync(join(folder, "report.json"), JSON.stringify(old));
  for (const what of [folder, join(folder, "report.json")]) {
    const { code, out } = runs.compare(what);
    assert.equal(code, 0);
    assert.match(oneLine(out), /cause unknown: these reports name no digests of scorers and data/);
  }
});

test("--json prints each cell, each changed score and a summary; --markdown prints a table", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 2.9, scorer: "2" });
  const lines = runs
    .compare(first, { json: true })
    .out.trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ event, change }) => [event, change]),
    [
      ["cell", "changed"],
      ["score", "changed"],
      ["against", undefined],
    ],
  );
  assert.deepEqual(lines[1].causes, [
    { kind: "key", stage: "score", words: "code changed: measure.py", old: digest("1"), now: digest("2") },
  ]);
  assert.deepEqual(lines[2].cells, { changed: 1, added: 0, removed: 0, equal: 0 });
  assert.equal(lines[2].rescored.rescored, 1);
  const { out } = runs.compare(first, { markdown: true });
  assert.match(out, /^## Compared with run /);
  assert.match(out, /^\| letters \| bits ↓ \\\* \| plain \| 3\.0\d+ → 2\.9\d+ \| −0\.100 \| 1\/1 \|$/m);
});

test("an unknown name is refused with the runs that can be named", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  runs.add({ run: second, level: 3 });
  assert.deepEqual(runs.compare("yesterday"), {
    code: 2,
    out: "",
    err: `no-such-result: "yesterday" is no file, no folder and no run of this state folder\n  help: name a folder of results, a report.json, or a run: ${second}, ${first}\n`,
  });
});

test("a folder without results, a foreign file, and a run of another profile are refused", (t) => {
  const runs = new Runs(t);
  runs.add({ run: first, level: 3 });
  const foreign = join(runs.at.root, "foreign.json");
  writeFileSync(foreign, "{}");
  const other = join(runs.at.open().state.journals, `${second}.jsonl`);
  writeFileSync(
    other,
    `${JSON.stringify({ event: "begin", pipeline: "small", profile: "paper", selection: "" })}\n`,
  );
  for (const [what, problem] of [
    [runs.at.root, /^no-report: .* has no report\.json\n {2}help: /],
    [foreign, /^no-report: .*foreign\.json is not a report of this version/],
    [second, /^another-pipeline: the run 20260102T000000Z-b is of small \(paper\), not of small \(smoke\)\n/],
  ] as const) {
    const { code, err } = runs.compare(what);
    assert.equal(code, 2);
    assert.match(err, problem);
  }
});
