import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../formats/markdown.ts";
import { headline } from "../sections/headline.ts";
import { Example, exampleParams, passed, referenceRows, scored, textItems } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";

/** Two programs and as many people as asked, each with a score of their own at one task. */
function attempted(people: number) {
  const { presets } = exampleParams;
  const example = new Example({
    agents: { plain: "Plain", strong: "Strong", human: "Person" },
    presets: { ...presets, human: { ...presets.plain, kind: "person" } },
    bestOf: [1, 2],
  });
  example.gives(
    "references",
    { task: "letters", scorer: "bits" },
    referenceRows("bits", [
      { name: "unigram", value: 4 },
      { name: "bigram", value: 2 },
    ]),
  );
  const seeds = { plain: 4, strong: 4, human: people };
  const best = { plain: 2.6, strong: 2.4, human: 1.2 };
  for (const agent of ["plain", "strong", "human"] as const)
    for (let seed = 1; seed <= seeds[agent]; seed++) {
      const axes = { task: "letters", agent, seed };
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${seed}` })
        .gives("validate", axes, passed)
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(best[agent] + seed / 50)));
    }
  return example.report();
}

test("two people keep their numbers and enter no test, no rank and no headline, which the report says", () => {
  const report = attempted(2);
  assert.ok(report.cells.some(({ agent, mean }) => agent === "human" && mean !== null));
  const named = JSON.stringify([
    report.acrossTasks,
    report.agentComparisons,
    report.comparisons,
    report.bestOf,
    report.ladder,
  ]);
  assert.ok(!named.includes("human"), named);
  const lines = headline(report);
  assert.match(lines[0]!, /strong has the better mean at 1 of 1 task/);
  assert.deepEqual(
    lines.slice(1).filter((line) => line.includes("human")),
    ["Fewer than 3 people attempted a task as human: it enters no test and no rank."],
  );
  assert.match(markdown(report), /fewer than 3 people: no test and no rank/);
  assert.ok(!/\\textbf\{[^}]*1\.2/.test(latex(report)), "the best mean of two people is not bold");
});

test("three people are compared as any agent, seed by seed never", () => {
  const report = attempted(3);
  assert.match(headline(report)[0]!, /human has the best mean at 1 of 1 task/);
  const pairs = report.agentComparisons.filter(({ agents }) => agents.includes("human"));
  assert.equal(pairs.length, 2);
  assert.ok(pairs.every(({ overall, pairs }) => overall.kind === "tested" && pairs.kind === "not-paired"));
});

test("one person alone is a number without a comparison", () => {
  const report = attempted(1);
  const alone = {
    ...report,
    agents: report.agents.filter(({ name }) => name === "human"),
    cells: report.cells.filter(({ agent }) => agent === "human"),
    attempts: report.attempts.filter(({ agent }) => agent === "human"),
  };
  assert.deepEqual(headline(alone), [
    "Practice data. Fewer than 3 people attempted a task as human: it enters no test and no rank.",
  ]);
});
