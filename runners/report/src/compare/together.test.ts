import assert from "node:assert/strict";
import { test } from "node:test";
import { type Random, seededRandom } from "@mlrb/core/statistics/random";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import type { Member } from "@mlrb/formats/stage/collected";
import { paperFiles } from "../formats/latex.ts";
import { markdown } from "../formats/markdown.ts";
import { analysisPlan, togetherPlan } from "../protocol/analysis-plan.ts";
import { reportParams } from "../read/report-params.ts";
import { togetherCostsSections } from "../sections/together-section.ts";
import { csvRows } from "../testing/csv-rows.ts";
import { Example, exampleParams, passed, referenceRows, scored, textItems } from "../testing/example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { falseReportsMax } from "../testing/simulated-report.ts";
import { primaryClaim, together } from "./together.ts";

const arm = { team: "crew+two", solo: "one+two", bestOf: "one", k: 2 };
const agents = ["crew@own:m+two", "one@own:m", "one@own:m+two"];
const arms = { time: arm, money: { ...arm, team: "crew+purse" } };
const params = {
  ...{ label: "official", bestOf: [2], arms, primaryArm: "time", dollarsPerMachineHour: 2.5 },
  agents: Object.fromEntries(agents.map((agent) => [agent, `Title of ${agent}`])),
};

/** `bits`: of each attempt by agent, `"fail"` for none. Baseline 3, reference 1; lower is better. */
function example(bits: Record<string, (number | "fail")[]>, more = {}) {
  const made = new Example({ ...params, ...more });
  for (const [agent, values] of Object.entries(bits))
    for (const [at, value] of values.entries()) {
      const axes = { task: "letters", agent, seed: at + 1 };
      made.gives("attempt", axes, { submission: `sha256:${agent}${at}` });
      made.gives("validate", axes, value === "fail" ? rejected : passed);
      if (value !== "fail")
        made.gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(value)));
      else made.gives("score", { ...axes, scorer: "bits" }, noScore);
    }
  made.gives(
    "references",
    { task: "letters", scorer: "bits" },
    referenceRows("bits", [
      { name: "unigram", value: 3, standardError: 0.01 },
      { name: "bigram", value: 1, standardError: 0.01 },
    ]),
  );
  const budget: Member["budget"] = { timeMs: 3_600_000, machines: 2 };
  return made.planned({ condition: "no-network", budget }).report();
}
const rejected = {
  ...passed,
  verdict: { ...passed.verdict, kind: "rejected" },
};
const noScore = { score: { formatVersion: 1, kind: "rejected", metric: "bits", reason: "not there" } };

const good = [1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.15, 1.25, 1.35, 1.45];
const poor = good.map((value) => value + 1);
const clear = { [agents[0]!]: good, [agents[1]!]: poor, [agents[2]!]: poor.map((value) => value + 0.01) };

test("each arm has its team, its single agent and the best of k, also with the model that a run chose", () => {
  const report = example(clear);
  mustFollow(reportFormat, JSON.parse(JSON.stringify(report)), "the report");
  const [time, money] = report.together!.arms;
  assert.deepEqual(
    time!.sides.map(({ side, agent, k, n, planned }) => [side, agent, k, n, planned]),
    [
      ["team", agents[0], 1, 12, 12],
      ["best-of-k", agents[1], 2, 6, 6],
      ["solo", agents[2], 1, 12, 12],
    ],
  );
  const { groups } = report.bestOf!.cells.find(({ agent, k }) => agent === agents[1] && k === 2)!;
  const mean = groups.reduce((sum, { value }) => sum + value!, 0) / groups.length;
  assert.ok(Math.abs(time!.sides[1]!.mean! - mean) < 1e-12, "of the chosen attempts, not of the better ones");
  assert.deepEqual(money!.without, ["crew+purse is not planned"]);
  assert.equal(money!.overBestOf, null);
});

test("the primary contrast is the team against the best of k, and the words say which is better", () => {
  const report = example(clear);
  const { overBestOf } = report.together!.arms[0]!;
  assert.deepEqual(overBestOf!.agents, [agents[0], `best of 2 of ${agents[1]}`]);
  assert.equal(primaryClaim(report), "team");
  const text = markdown(report);
  assert.match(text, /\| arm \| task \| side \|/);
  assert.match(text, /Primary contrast, time[\s\S]{0,20}the team is shown to be better than the best of 2/);
  const swapped = example({ ...clear, [agents[0]!]: poor, [agents[1]!]: good });
  assert.equal(primaryClaim(swapped), "best-of-k");
  assert.match(markdown(swapped), /the best of 2 is shown to be better than the team/);
});

test("smoke claims nothing, nor do too few attempts", () => {
  const smoke = example(clear, { label: "smoke" });
  assert.equal(primaryClaim(smoke), undefined);
  assert.doesNotMatch(markdown(smoke), /shown to be better than the best|shown to be better than the team/);
  const few = example({ [agents[0]!]: good.slice(0, 2), [agents[1]!]: poor.slice(0, 2) });
  assert.equal(primaryClaim(few), undefined);
  assert.match(markdown(few), /too few attempts: no result could show a difference/);
});

test("a failed attempt counts as the baseline, and its side has no t interval", () => {
  const report = example({ ...clear, [agents[0]!]: ["fail", ...good.slice(1)] });
  const [team, best] = report.together!.arms[0]!.sides;
  assert.equal(team!.interval, null);
  assert.ok(best!.interval);
  assert.ok(team!.mean! > 1.4, "one of twelve is at 3");
});

test("together.csv and the table for papers have each side of each arm", () => {
  const report = example(clear);
  const rows = csvRows(report, "together");
  assert.deepEqual(
    rows.map((row) => [row.arm, row.primary_arm, row.side, row.k, row.budget_hours, row.budget_machines]),
    ["time", "money"].flatMap((name) =>
      (name === "time" ? ["team", "best-of-k", "solo"] : ["best-of-k", "solo"]).map((side) => [
        ...[name, String(name === "time"), side, side === "best-of-k" ? "2" : "1", "1", "2"],
      ]),
    ),
  );
  assert.match(paperFiles(report)["together.tex"]!, /best of 2/);
});

test("the best of k spent all k attempts; what is not known of each attempt is unknown", () => {
  const report = example(clear);
  const attempts = report.attempts.map(({ task, agent, seed }) => ({
    ...{ task, agent, seed, wallSeconds: 7200, workingSeconds: 3600, budgetSeconds: 1, ended: "finished" },
    ...{ tokens: 10, dollars: agent === agents[2] && seed === 1 ? null : 1, gpuHours: 0, machineHours: 2 },
  }));
  const [section] = togetherCostsSections(report, { formatVersion: 1, label: "x", attempts } as never);
  const cells = section!.tables[0]!.groups[0]!.rows.map((row) =>
    row.map(({ lines }) => lines.join(" ")).slice(1, 7),
  );
  assert.deepEqual(cells, [
    ["team", "2.000", "2.000", "10", "1.00", "6.00"],
    ["best of 2", "4.000", "4.000", "20", "2.00", "12.00"],
    ["one agent, alone with all", "2.000", "2.000", "10", "unknown", "unknown"],
  ]);
});

test("a protocol names the primary contrast only where the pipeline names arms", () => {
  const plan = togetherPlan(reportParams({ ...exampleParams, arms, primaryArm: "time" }));
  assert.match(plan.map(({ text }) => text).join(), /the team against the best of k in the arm time,/);
  assert.deepEqual(togetherPlan(reportParams(exampleParams)), []);
  assert.ok(
    analysisPlan.every(({ name }) => name !== "together"),
    "earlier protocols hold",
  );
});

test("arms without a primary one are a mistake in the pipeline", () => {
  assert.throws(
    () => reportParams({ ...exampleParams, arms }),
    /params\.primaryArm is missing: name one of the arms/,
  );
});

const base = nastyExample().report();
const template = base.cells.find(({ primary, mean }) => primary && mean !== null)!;

/** Team and best of k draw from one distribution: of two attempts the one that a noisy score chooses; one in five fails. */
function withoutEffect(random: Random, { values }: { values: number }): Report {
  const one = () => (random.fraction() < 0.2 ? -20 : random.normal());
  const best = () => {
    const [a, b] = [one(), one()];
    return a + random.normal() > b + random.normal() ? a : b;
  };
  const drawn = () => Array.from({ length: values }, best);
  const tasks = ["baby", "edge", "merge"];
  const cellOf = (task: string, agent: string, counted: number[]) => ({
    ...{ ...template, task, agent, direction: "higher" as const, counted, values: counted, normalised: [] },
    ...{ measured: counted.length, planned: counted.length, observations: counted.length },
    normalisedWithheld: "not simulated",
  });
  const report: Report = {
    ...{ ...base, smoke: false, attempts: [] },
    agents: ["crew+two", "one+two", "one"].map((name) => ({ name, title: name })),
    cells: tasks.flatMap((task) => [
      cellOf(task, "crew+two", drawn()),
      cellOf(task, "one+two", drawn()),
      cellOf(task, "one", []),
    ]),
    acrossTasks: { ...base.acrossTasks, tasks: [] },
    bestOf: {
      ...{ tasks: [], agents: [], profiles: [] },
      cells: tasks.map((task) => ({
        ...{ task, agent: "one", k: 2, n: 0, successes: null, passAtK: null, passInterval: null, leftOut: 0 },
        ...{ mean: null, normalisedMean: null, oracle: null, better: null, betterInterval: null },
        groups: drawn().map((value) => ({
          ...{ seeds: [1, 2], dev: [null, null], by: "random" as const, chosen: 1, value, oracle: null },
        })),
      })),
    },
  };
  const asked = { arms, primaryArm: "time", dollarsPerMachineHour: null };
  return { ...report, together: together(report, asked) };
}

test("without an effect the primary contrast is claimed in at most 5 % of reports", () => {
  const random = seededRandom(7);
  const count = 400;
  for (const values of [4, 8]) {
    const claims = Array.from({ length: count }, () => primaryClaim(withoutEffect(random, { values })));
    const claimed = claims.filter((one) => one !== undefined).length;
    assert.ok(claimed <= falseReportsMax(count), `${claimed} of ${count} with ${values} values`);
    assert.ok(claimed > 0, "the test can reject");
  }
});
