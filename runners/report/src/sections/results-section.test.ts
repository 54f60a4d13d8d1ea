import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { forestData } from "../page/charts/forest-data.ts";
import { csvRows } from "../testing/csv-rows.ts";
import { Example, passed, referenceRows, scored } from "../testing/example.ts";
import { resultsSection } from "./results-section.ts";

type Scores = { bits?: number[]; pairs?: number[] };

/** A report of attempts at `letters`; the trivial baseline of bits is 3, of pairs 0.5. */
function report(agents: Record<string, Scores>) {
  const example = new Example();
  for (const [agent, scores] of Object.entries(agents)) {
    for (const [scorer, values] of Object.entries(scores) as ["bits" | "pairs", number[]][]) {
      for (const [index, value] of values.entries()) {
        const axes = { task: "letters", agent, seed: index + 1 };
        if (scorer === "bits" || scores.bits === undefined)
          example
            .gives("attempt", axes, { submission: `sha256:${agent}${index}` })
            .gives("validate", axes, passed);
        const items = [
          { id: "a", value, weight: 1 },
          { id: "b", value, weight: 1 },
        ];
        example.gives("score", { ...axes, scorer }, scored(scorer, items));
      }
    }
  }
  const rows = [
    { name: "unigram", value: 3, standardError: 0.02 },
    { name: "bigram", value: 2, standardError: 0.02 },
  ];
  example.gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows));
  return example.report();
}

test("a note names exactly the cells that it is true of", () => {
  const section = resultsSection(
    report({
      plain: { bits: [2.5, 2.5], pairs: [0.6, 0.6] },
      strong: { bits: [2.4, 2.4], pairs: [0.7, 0.8] },
    }),
  );
  const notes = section.items
    .filter(({ text }) => text.includes("no interval"))
    .map(({ head, text }) => `${head}: ${text.split(":")[0]}`);
  assert.deepEqual(notes, ["letters, plain: bits, pairs", "letters, strong: bits"]);
});

test("no interval is next to a mean over all attempts", () => {
  const { tables } = resultsSection(report({ plain: { bits: [2.5, 2.6, 2.7] } }));
  const [means, behind] = tables;
  assert.deepEqual(means!.groups[0]!.rows[0]![1]!.lines, ["2.600 (3/3)"]);
  const texts = behind!.groups[0]!.rows[0]!.map(({ lines }) => lines.join());
  assert.deepEqual(texts.slice(1), [
    "plain",
    "2.500, 2.600, 2.700",
    "1.00 [0.44, 1.00]",
    "2.600 [2.352, 2.848] (n 3)",
  ]);
});

test("an absurd score is shown raw and counts as the trivial baseline", () => {
  const found = report({ plain: { bits: [2, 1.4e30] } });
  const [cell] = found.cells;
  assert.deepEqual([cell!.values, cell!.counted, cell!.mean], [[2, 1.4e30], [2, 3], 2.5]);
  assert.deepEqual([cell!.normalised, cell!.validMean, cell!.belowBaseline], [[1, 0], 2.5, 1]);
  assert.ok(cell!.errors.betweenAttempts! < 1 && cell!.errors.overItems! < 1);
  for (const text of [markdown(found), terminalTable(found, { width: 160, color: false })]) {
    assert.match(text, /1\.40e\+30 \(counts as 3\.000\)/);
    assert.match(text, /1 below the baseline/);
  }
  const { value, standard_error, items, counted } = csvRows(found, "scores")[1]!;
  assert.deepEqual([value, standard_error, items, counted], ["1.4e+30", "0.03", "2", "3"]);
  const seeds = forestData(found).tasks[0]!.agents[0]!.seeds;
  assert.ok(
    seeds.every(({ at }) => at! >= 0),
    "an axis of readable length",
  );
});

test("an implausible score is marked and changes no number", () => {
  const found = report({ plain: { bits: [0.03, 2.5] } });
  const [cell] = found.cells;
  assert.deepEqual(cell!.counted, [0.03, 2.5]);
  assert.deepEqual(
    cell!.implausible.map(({ seed, row }) => [seed, row]),
    [[1, "bigram"]],
  );
  assert.match(cell!.notes.join(), /seed 1: implausible, .*\(39\.4 from bigram\)/);
  for (const text of [markdown(found), terminalTable(found, { width: 160, color: false })]) {
    assert.match(text, /1 implausible/);
    assert.match(text, /0\.030 \(0\.030\) \?/);
  }
  assert.deepEqual(
    csvRows(found, "scores").map(({ seed, metric, implausible, implausible_by }) => [
      ...[seed, metric, implausible, Number(implausible_by).toFixed(1)],
    ]),
    [
      ["1", "bits", "true", "39.4"],
      ["2", "bits", "false", "0.0"],
    ],
  );
});
