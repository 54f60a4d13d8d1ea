import assert from "node:assert/strict";
import { test } from "node:test";
import { memorisation as memorisationFile } from "@mlrb/formats/judged/memorisation";
import { mustFollow } from "@mlrb/formats/read-format";
import { markdown } from "../formats/markdown.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { falseAlarms, taskReference } from "./memorised-texts.ts";

type Level = (side: "private" | "public", at: number, source: string) => number;
const sources = ["train.jsonl"];
const ten = Array.from({ length: 10 }, (_, at) => at);

/** Ten documents of each side and source with `level` bits per byte, each with a difficulty of its own. */
function model(name: string, level: Level, from = sources) {
  const documents = from.flatMap((source) =>
    (["private", "public"] as const).flatMap((side) =>
      ten.map((at) => {
        const hard = 0.5 * (1 + Math.sin(at + (side === "public" ? 0.3 : 0)));
        const bits = 1000 * (level(side, at, source) + hard);
        return { id: `${source}/${at}`, side, source, bits, bytes: 1000 };
      }),
    ),
  );
  return { name, kind: "measured", documents };
}

const file = (models: object[], reference: string | null = null) => ({
  memorisation: { formatVersion: 1, privateDocuments: true, reference, models },
});
const wobble = (at: number) => 0.05 * Math.cos(3 * at);
const steady: Level = () => 2.2;
const references = (...more: object[]) => file([model("base", steady), ...more], "base");

/** The report of one attempt at `letters`; `own` and `references` are the files of the stages, if they are planned. */
function reported(own?: object, references?: object) {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const example = new Example()
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2.5)));
  if (own) example.gives("memorisation", axes, { ...own });
  if (references) example.gives("reference-memorisation", { task: "letters" }, { ...references });
  const report = example.report();
  return { report, found: report.attempts[0]!.memorisation, text: markdown(report) };
}

const submission = (level: Level, from = sources) => file([model("submission", level, from)]);
const memorised: Level = (side, at) => (side === "private" ? 0.03 : 3) + wobble(at);

test("a model that favours private texts by more than five standard errors is noted, and no number changes", () => {
  const { report, found, text } = reported(submission(memorised), references());
  assert(found?.kind === "compared" && found.noted);
  // reference: 0 on both sides up to difficulty, which cancels
  assert.ok(Math.abs(found.difference - (0.03 - 3)) < 1e-9, `${found.difference}`);
  assert.ok(found.standardError > 0.005 && found.standardError < 0.03, `${found.standardError}`);
  const { report: without } = reported();
  const [cell] = report.cells;
  assert.deepEqual({ ...cell, notes: [] }, { ...without.cells[0], notes: [] });
  assert.equal(
    cell!.notes.filter((note) => /possible memorisation of the private texts/.test(note)).length,
    1,
  );
  assert.match(
    text,
    /possible memorisation of the private texts: -2\.970 bits per byte .* \(standard error 0\.0/,
  );
  assert.equal(report.coverage.attempts.pass, 1);
});

test("a model that favours public texts, or private ones within five standard errors, is not noted", () => {
  const overfitted: Level = (side, at) => (side === "private" ? 3 : 0.03) + wobble(at);
  // wobble has a standard error of 0.0118 on each side, 0.0167 together
  const within: Level = (side, at) => (side === "private" ? 2.13 : 2.2) + wobble(at);
  const beyond: Level = (side, at) => (side === "private" ? 2.1 : 2.2) + wobble(at);
  for (const [level, noted] of [
    [overfitted, false],
    [within, false],
    [beyond, true],
  ] as const) {
    const { found, text } = reported(submission(level), references());
    assert(found?.kind === "compared");
    assert.equal(found.noted, noted, JSON.stringify(found));
    assert.equal(/possible memorisation of the private texts: /.test(text), noted);
  }
});

test("the difference of the reference is subtracted: harder private texts are no sign", () => {
  const harder: Level = (side) => (side === "private" ? 1.9 : 2.2);
  const { found } = reported(
    submission((side, at) => harder(side, at, "") + wobble(at)),
    file([model("base", harder)], "base"),
  );
  assert(found?.kind === "compared" && !found.noted);
  assert.ok(Math.abs(found.difference) < 1e-9);
});

test("sources count equally, so that memorised texts of the smaller source are noted", () => {
  const both = ["train.jsonl", "instructions.jsonl"];
  const level: Level = (side, at, source) =>
    (source === "instructions.jsonl" && side === "private" ? 1.2 : 2.2) + wobble(at);
  const { found } = reported(submission(level, both), file([model("base", steady, both)], "base"));
  assert(found?.kind === "compared" && found.noted);
  assert.ok(Math.abs(found.difference + 0.5) < 1e-9);
});

test("the note's false alarms over reference models are counted, without the one compared with", () => {
  const measured = references(
    model("bigram", (_, at) => 2.4 + wobble(at)),
    model("unlucky", memorised),
    { name: "broken", kind: "rejected", reason: "non-finite output" },
  );
  const { report, text } = reported(
    submission((_, at) => 2.3 + wobble(at)),
    measured,
  );
  const { tasks, falseAlarms } = report.memorisation!;
  assert.deepEqual(
    tasks.map(({ task, reference, models }) => [
      task,
      reference,
      models.map(({ name, kind }) => [name, kind]),
    ]),
    [
      [
        "letters",
        "base",
        [
          ["bigram", "compared"],
          ["unlucky", "compared"],
          ["broken", "not-measured"],
        ],
      ],
    ],
  );
  assert.deepEqual([falseAlarms.noted, falseAlarms.models], [1, 2]);
  // Clopper and Pearson (1934): at most 1 of 2 has the probability 1 − p² = 2.5 %
  assert.ok(Math.abs(falseAlarms.upper! - Math.sqrt(0.975)) < 1e-9);
  assert.match(text, /1 of 2 reference models .* \(95 % interval up to 99 %\)/);
});

test("equal reference models of tasks with the same texts are one observation", () => {
  const { memorisation: own } = references(model("bigram", memorised));
  const { memorisation: other } = references(model("bigram", (_, at) => 2.4 + wobble(at)));
  const read = (value: object) =>
    taskReference({ kind: "ok", value: mustFollow(memorisationFile, value, "made by the test") });
  const tasks = new Map([
    ["letters", read(own)],
    ["numbers", read(own)],
    ["words", read(other)],
  ]);
  const { falseAlarms: all, tasks: listed } = falseAlarms(tasks);
  assert.deepEqual([all.noted, all.models], [1, 2]);
  assert.deepEqual(
    listed.map(({ models }) => models.length),
    [1, 1, 1],
  );
});

test("without its file, with an unreadable one, or with other documents, it is not measured", () => {
  const cause = (own?: object, references?: object) => {
    const { found } = reported(own, references);
    assert(found?.kind === "not-measured");
    return found.cause;
  };
  const { report, text } = reported();
  assert.equal(report.attempts[0]!.memorisation, undefined);
  assert.match(text, /All tasks.*: not measured: no stage compares private with public texts/);
  assert.match(cause({ memorisation: "{" }, references()), /^unreadable memorisation/);
  assert.match(cause(submission(steady)), /^reference models: not planned/);
  assert.match(cause(submission(steady), file([], "base")), /^reference models: no reference/);
  const rejected = file([{ name: "submission", kind: "rejected", reason: "not admitted: torn" }]);
  assert.equal(cause(rejected, references()), "not admitted: torn");
  const others = file([model("base", steady, ["other.jsonl"])], "base");
  assert.match(cause(submission(steady), others), /too few common documents/);
});

test("a task that scores no private documents has no row", () => {
  const none = { memorisation: { formatVersion: 1, privateDocuments: false, reference: null, models: [] } };
  const { found, report, text } = reported(none, none);
  assert.deepEqual(found, { kind: "no-private-documents" });
  assert.deepEqual(report.memorisation, { tasks: [], falseAlarms: { noted: 0, models: 0, upper: null } });
  assert.doesNotMatch(text, /possible memorisation of the private texts:/);
});
