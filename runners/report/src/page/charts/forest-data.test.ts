import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { largeExample } from "../../testing/large-example.ts";
import { nastyExample } from "../../testing/nasty-example.ts";
import { forestData } from "./forest-data.ts";
import { look } from "./heat-map.ts";
import { differenceRows } from "./ranked-data.ts";

const sample: Report = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../../docs/smoke/report.json"), "utf8"),
);
const large = largeExample().report;

for (const [name, report] of Object.entries({ sample, nasty: nastyExample().report(), large })) {
  test(`every task, agent and attempt of the ${name} report is in the forest plot`, () => {
    const { tasks } = forestData(report);
    assert.deepEqual(
      tasks
        .flatMap(({ task, agents }) =>
          agents.flatMap(({ agent, seeds }) => seeds.map(({ seed }) => [task, agent, seed].join())),
        )
        .sort(),
      report.attempts.map(({ task, agent, seed }) => [task, agent, seed].join()).sort(),
    );
  });

  test(`normalised places of the ${name} report are those of report.json`, () => {
    for (const { task, scale, agents } of forestData(report).tasks)
      for (const { agent, at, seeds } of agents) {
        const cell = report.cells.find((one) => one.primary && one.task === task && one.agent === agent)!;
        if (scale === "own") continue;
        if (cell.normalisedMean !== null)
          assert.ok(Math.abs(at! - cell.normalisedMean) < 1e-9, `${task} ${agent}`);
        for (const [index, one] of seeds.entries())
          if (one.at !== null) assert.ok(Math.abs(one.at - cell.normalised[index]!) < 1e-9);
      }
  });

  test(`no interval of the ${name} report is drawn around a mean with a failed attempt`, () => {
    for (const { task, agents } of forestData(report).tasks)
      for (const { agent, at, interval, seeds } of agents) {
        if (interval === null) continue;
        assert.ok(!seeds.some(({ kind }) => kind === "failed"), `${task} ${agent}`);
        assert.ok(interval[0] <= at! && at! <= interval[1], `${task} ${agent}`);
      }
  });
}

test("better is right whatever the metric's direction, also without a reference model", () => {
  for (const { task, agents } of forestData(sample).tasks) {
    const [strong, weak] = agents;
    assert.ok(weak!.at! < strong!.at!, task);
  }
  const own = forestData(sample).tasks.filter(({ scale }) => scale === "own");
  assert.deepEqual(
    own.map(({ task }) => task),
    ["llm-efficiency", "llm-merging"],
  );
  for (const { agents } of own)
    assert.equal(Math.max(...agents.flatMap(({ seeds }) => seeds.map(({ at }) => at!))), 1);
});

test("the last row turns each difference so that the leading agent comes first", () => {
  assert.deepEqual(
    differenceRows(sample).map(({ first, second, interval, note }) => [first, second, interval, note]),
    [["script-strong", "script-weak", null, "3 of 7 tasks, no interval: too few attempts"]],
  );
  const { difference } = sample.agentComparisons[0]!;
  assert.ok(difference.kind === "difference" && difference.value !== 0);
  assert.equal(differenceRows(sample)[0]!.value, Math.abs(difference.value));
  for (const { first, value, interval } of differenceRows(large)) {
    assert.equal(first, "supervisor");
    assert.ok(interval![0] < value && value < interval![1]);
  }
});

test("squares of missing and undecided attempts are hatched, failed ones are crosses", () => {
  assert.equal(look({ kind: "valid", at: 0 }), "h0");
  assert.equal(look({ kind: "valid", at: 7 }), "h8");
  assert.equal(look({ kind: "undecided", at: 1 }), "hatched h8");
  assert.equal(look({ kind: "missing", at: null }), "hatched missing");
  assert.equal(look({ kind: "failed", at: 0 }), "failed");
});
