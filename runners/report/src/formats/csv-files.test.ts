import assert from "node:assert/strict";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { resultRows, resultTables } from "@mlrb/formats/report/result-tables";
import { answerRows } from "../judged/answer-rows.ts";
import { csvRows, csvText, parseCsv } from "../testing/csv-rows.ts";
import { answersOf } from "../testing/judge-example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { attemptRows, checkpointRows, scoreRows } from "./attempt-rows.ts";
import { bestOfRows, profileRows } from "./best-of-rows.ts";
import { csvFiles, memberRows } from "./csv-files.ts";
import { doseRows } from "./dose-rows.ts";
import { comparisonRows, summaryRows } from "./summary-rows.ts";
import { togetherRows } from "./together-rows.ts";

const nasty = nastyExample().report();

const judged = { task: "t", agent: "a", seed: 1, family: null, answers: answersOf({ copied: "yes" }) };

const curve = {
  ...{ task: "letters", of: "time", unit: "share", agent: "plain", metric: "bits", scaled: true },
  points: [{ level: "whole", dose: 1, n: 2, mean: 0.5, interval: null }],
  checkpoints: [{ share: 0.25, n: 2, mean: 0.1 }],
  ...{ beats: ["whole"], equal: [] },
};

const group = { seeds: [1], dev: [null], by: "random" as const, chosen: 1, value: 2, oracle: 2 };
const cell = {
  ...{ task: "letters", agent: "plain", k: 1, n: 2, successes: 1, passAtK: 0.5, passInterval: null },
  ...{ groups: [group], leftOut: 0, mean: 2, normalisedMean: null, oracle: 2 },
  ...{ better: null, betterInterval: null },
};
const bestOf = {
  tasks: [{ task: "letters", metric: "bits", success: 2, beats: null, devScorer: null }],
  ...{ cells: [cell], agents: [] },
  profiles: [{ agent: "plain", k: 1, tasks: ["letters"], steps: [{ above: 0.5, share: 0 }] }],
};

const arm = {
  ...{ name: "time", primary: true, team: "crew", solo: "one", bestOf: "one", k: 2, without: [] },
  ...{ overBestOf: null, overSolo: null },
  sides: [
    {
      ...{ task: "letters", side: "team" as const, agent: "crew", k: 1, metric: "bits", n: 1, planned: 2 },
      ...{ mean: 0.5, interval: null, budget: { timeMs: 3_600_000, dollars: 4 }, limits: { none: 1 } },
    },
  ],
};

const member = {
  ...{ name: "lead", agent: "thinker", kind: "llm" as const, calls: 2, inputTokens: 100, outputTokens: 20 },
  ...{ dollars: null, waitedMs: 1500, messages: 3, messageCharacters: 40, end: '=1+1 "x",\n' },
};
const [attempt] = nasty.attempts;
const { task, agent, seed } = attempt!;
const times = { attempts: [{ task, agent, seed, members: [member] }] } as never;

test("the rows of every file follow the published schema", () => {
  const tables = {
    "summary.csv": summaryRows(nasty),
    "attempts.csv": attemptRows(nasty),
    "scores.csv": scoreRows(nasty),
    "checkpoints.csv": checkpointRows(nasty),
    "comparisons.csv": comparisonRows(nasty),
    "answers.csv": answerRows({ ...nasty, judged: { attempts: [judged], checks: [] } }),
    "doses.csv": doseRows({ ...nasty, ladder: { levels: [], margin: 0.05, trends: [], curves: [curve] } }),
    "best-of.csv": bestOfRows({ ...nasty, bestOf }),
    "profiles.csv": profileRows({ ...nasty, bestOf }),
    "together.csv": togetherRows({ ...nasty, together: { dollarsPerMachineHour: null, arms: [arm] } }),
    "members.csv": memberRows(nasty, times),
  };
  assert.deepEqual(Object.keys(tables), Object.keys(resultTables.properties));
  mustFollow(resultTables, JSON.parse(JSON.stringify(tables)), "tables");
});

test("the columns of every file are snake_case, in the order of the schema", () => {
  for (const [file, text] of Object.entries(csvFiles(nasty, times))) {
    const [head] = parseCsv(text);
    const row = resultRows[file.replace(".csv", "") as keyof typeof resultRows];
    assert.deepEqual(head, Object.keys(row.properties), file);
    for (const column of head!) assert.match(column, /^[a-z][a-z_]*$/, file);
  }
});

test("summary.csv has each cell in full precision, and the interval of valid attempts under its own name", () => {
  const rows = csvRows(nasty, "summary");
  assert.equal(rows.length, nasty.cells.length);
  for (const [at, cell] of nasty.cells.entries()) {
    const row = rows[at]!;
    const text = (value: number | null | undefined) =>
      value === null || value === undefined ? "" : String(value);
    assert.deepEqual(
      [row.mean, row.n, row.valid_mean, row.valid_ci_low, row.valid_ci_high, row.baseline, row.reference],
      [
        ...[cell.mean, cell.measured, cell.validMean],
        ...[cell.validInterval?.[0], cell.validInterval?.[1], cell.baseline, cell.reference],
      ].map(text),
    );
    assert.equal(row.mean === "", row.mean_reason !== "", "a missing mean has a reason");
    assert.equal(row.valid_ci_low === "", row.valid_ci_reason !== "", "a missing interval has a reason");
  }
});

test("a score without a value has a reason, and an unknown value is empty, never 0", () => {
  const missing = csvRows(nasty, "scores").filter(({ score }) => score !== "scored");
  assert.ok(missing.length > 0);
  for (const { value, standard_error, reason } of missing) {
    assert.deepEqual([value, standard_error], ["", ""]);
    assert.notEqual(reason, "");
  }
});

test("an attempt's research and what it built are in its row of attempts.csv", () => {
  for (const [at, { research, seed }] of nasty.attempts.entries()) {
    const row = csvRows(nasty, "attempts")[at]!;
    assert.equal(row.seed, String(seed));
    const executed = research?.kind === "found" ? String(research.executed) : "";
    assert.equal(row.executed_iterations, executed);
    assert.equal(row.research_reason === "", research?.kind !== "not-measured");
  }
});

test("a file without rows is left out, except those that every report has", () => {
  const bare = csvFiles({ ...nasty, cells: [], attempts: [], agentComparisons: [] });
  assert.deepEqual(Object.keys(bare), ["summary.csv", "attempts.csv", "scores.csv"]);
  assert.doesNotMatch(csvText(nasty), /,(undefined|NaN|null)(,|\r)/);
});

test("members.csv has a row for each member of a team, without durations, and no text becomes a formula", () => {
  const [head, row] = parseCsv(csvFiles(nasty, times)["members.csv"]!);
  const found = Object.fromEntries(head!.map((column, at) => [column, row![at]]));
  assert.deepEqual(
    [found.member, found.member_agent, found.calls, found.dollars],
    ["lead", "thinker", "2", ""],
  );
  assert.match(found.ended!, /^[^=]/);
  assert.ok(!row!.includes("1500") && !row!.includes("1.5"));
});
