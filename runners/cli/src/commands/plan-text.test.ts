import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reason } from "@mlrb/core/key/reasons";
import { displayWidth } from "@mlrb/core/text/display-width";
import { type PlannedInstance, planLine, planLines, summaryText } from "./plan-text.ts";

type Planned = Partial<PlannedInstance> & { reasons: Reason[] };

const of = (stage: string, count: number, more: Planned): PlannedInstance[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `${stage}[seed=${at + 1}]`,
    stage,
    action: "run",
    certain: true,
    expectedMs: 1000,
    ...more,
  }));
const reused = (stage: string, count: number) =>
  of(stage, count, { action: "reuse", reasons: [{ kind: "unchanged" }] });
const code: Reason = { kind: "code-changed", file: "scorers/exact/score.ts" };

test("a plan counts each stage that would run, with its reason, and lists the first instances", () => {
  const planned = [
    ...reused("data", 2),
    ...of("score", 14, { reasons: [code] }),
    ...of("report", 1, { certain: false, reasons: [{ kind: "upstream-runs", stage: "score[seed=1]" }] }),
  ];
  const lines = planLines(planned, 80);
  assert.deepEqual(lines.slice(0, 5), [
    "stage          run  run ?  reuse  because",
    "score           14      -      -  code changed: scorers/exact/score.ts",
    "report           -      1      -  an input runs first",
    "1 other stage    -      -      2",
    "",
  ]);
  assert.equal(lines[5], "run    score[seed=1]  (code changed: scorers/exact/score.ts)");
  assert.equal(lines.at(-1), "… and 5 more; --all lists each of the 17 instances");
  assert.equal(lines.length, 5 + 10 + 1);
});

test("with nothing to run it is one line", () => {
  assert.deepEqual(planLines(reused("data", 572), 80), ["all 572 stage instances would be reused"]);
});

test("what needs a person comes first: attempts that stay stale, stages that cannot run again", () => {
  const planned = [
    ...of("make", 12, { reasons: [code] }),
    ...of("attempt", 1, {
      action: "stale",
      onStale: "leave",
      reasons: [{ kind: "stale", record: "ab", changed: [code] }],
    }),
    ...of("gone", 1, {
      action: "stale",
      reasons: [{ kind: "thinned", record: "ab".repeat(32), input: "submission" }],
    }),
  ];
  const lines = planLines(planned, Number.POSITIVE_INFINITY);
  const listed = lines.slice(lines.indexOf("") + 1);
  assert.match(listed[0]!, /^leave {2}gone\[seed=1\] {2}\(thinned: /);
  assert.match(listed[1]!, /^stale {2}attempt\[seed=1\] {2}\(stale: code changed/);
  assert.match(listed[2]!, /^run {4}make\[seed=1\]/);
});

test("stale attempts that --rerun starts are counted as runs, in the table and in the sum", () => {
  const stale = (onStale: "rerun" | "leave") =>
    of("attempt", 5, {
      action: "stale",
      onStale,
      reasons: [{ kind: "stale", record: "ab", changed: [code] }],
    });
  const lines = planLines(stale("rerun"), 80);
  assert.match(lines[0]!, /^stage +rerun +because$/);
  assert.match(lines[1]!, /^attempt +5 /);
  assert.match(planLine(stale("rerun")[0]!), /^rerun {2}attempt\[seed=1\] {2}\(stale: /);
  assert.equal(
    summaryText(stale("rerun"), { ms: 5000, untimed: 0 }),
    "5 stages to run (5 of them stale), 0 to reuse, about 5 s",
  );
  assert.equal(summaryText(stale("leave"), undefined), "0 stages to run, 0 to reuse, 5 stale");
});

test("a first run is certain, is not listed instance by instance, and has one estimate or says once that it has none", () => {
  const upstream: Reason = { kind: "upstream-runs", stage: "data[seed=1]" };
  const planned = [
    ...of("data", 1, { reasons: [{ kind: "first-run" }], expectedMs: undefined }),
    ...of("score", 27, { certain: false, reasons: [upstream], expectedMs: undefined }),
  ];
  assert.deepEqual(planLines(planned, 80), [
    "stage  run  because",
    "data     1  first run",
    "score   27  first run",
    "--all lists each of the 28 instances",
  ]);
  assert.equal(planLine(planned[1]!), "run    score[seed=1]  (data[seed=1] runs first)");
  const time = (untimed: number) => summaryText(planned, { ms: 70_000, untimed });
  assert.equal(time(0), "28 stages to run, 0 to reuse, about 2 m");
  assert.equal(time(4), "28 stages to run, 0 to reuse, at least 2 m, 4 without an estimate");
  assert.equal(summaryText(planned, undefined), "28 stages to run, 0 to reuse, no estimate of the time");
});

test("no line is wider than the terminal", () => {
  const planned = of("attempt", 3, { reasons: [{ kind: "code-changed", file: "x".repeat(200) }] });
  for (const line of planLines(planned, 60)) assert.ok(displayWidth(line) <= 60, line);
  assert.ok(planLine(planned[0]!).includes("x".repeat(200)), "--all cuts nothing");
});
