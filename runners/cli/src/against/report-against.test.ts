import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { digest, Runs } from "../testing/compared-runs.ts";

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
    err: `no-such-result: "yesterday" is no file, no folder and no run of this state folder\n  help: name a folder of results, a report.json or a run: ${second}, ${first}\n`,
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
