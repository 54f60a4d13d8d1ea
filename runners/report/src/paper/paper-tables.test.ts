import assert from "node:assert/strict";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Times } from "@mlrb/formats/times";
import { json } from "../formats/json.ts";
import { tableFiles } from "../formats/latex.ts";
import { markdown } from "../formats/markdown.ts";
import type { Section } from "../sections/table.ts";
import { csvRows } from "../testing/csv-rows.ts";
import {
  Example,
  passed,
  referenceRows,
  researched,
  scored,
  textItems,
  verdict,
} from "../testing/example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { bestSection } from "./best-attempts.ts";
import { builtSection } from "./built-section.ts";
import { costsSection } from "./costs.ts";
import { setUpSection } from "./set-up-section.ts";

/** Attempts of `plain` at letters, lower is better: bits by seed, and their verdicts. */
function letters(...attempts: [bits: number, verdict: { verdict: object }][]): Example {
  const example = new Example({ label: "official" });
  example.gives(
    "references",
    { task: "letters", scorer: "bits" },
    referenceRows("bits", [{ name: "unigram", value: 3.07 }]),
  );
  for (const [at, [bits, judged]] of attempts.entries()) {
    const axes = { task: "letters", agent: "plain", seed: at + 1 };
    example
      .gives("attempt", axes, { submission: `sha256:${at}` })
      .gives("validate", axes, judged)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(bits)))
      .gives("iterations", axes, researched());
  }
  return example;
}

const undecided = verdict("undecided", { answer: "undecided" });
const texts = (section: Section) =>
  section.tables.map(({ groups }) =>
    groups.flatMap(({ rows }) => rows.map((row) => row.map(({ lines }) => lines.join("; ")))),
  );

test("the best attempt is the best valid one, with how many it is the best of, and no disqualified one", () => {
  const report = letters([2.5, passed], [1.1, verdict("disqualified")], [2.4, passed]).report();
  const [[row]] = texts(bestSection(report)) as [string[][]];
  assert.deepEqual(row, ["letters", "bits ↓", "2.400 (best of 3); implausible", "2.100 (n 4) Someone, of 5"]);
  assert.deepEqual(
    csvRows(report, "scores")
      .filter(({ best }) => best === "true")
      .map(({ task, agent, seed, metric, value }) => [task, agent, seed, metric, value]),
    [["letters", "plain", "3", "bits", String(report.cells[0]!.values[2])]],
  );
  assert.equal(report.cells[0]!.values[2]!.toFixed(3), "2.400");
});

test("an undecided best attempt is marked, and missing attempts are not counted", () => {
  const example = letters([2.5, passed], [2.0, undecided]);
  const lost = { task: "letters", agent: "plain", seed: 9 };
  const [[row]] = texts(bestSection(example.fails("attempt", lost, "failed", "").report())) as [string[][]];
  assert.equal(row![2], "2.000 (best of 2); undecided; implausible");
  const none = letters([2.5, verdict("disqualified")]).report();
  assert.equal(texts(bestSection(none))[0]![0]![2], "none of 1 valid");
  assert.ok(csvRows(none, "scores").every(({ best }) => best === "false"));
});

const stated = { base: "gpt2", experts: [], data: ["brown"], tokenizer: null };
const sizes = { layers: 2, decoderLayers: null, width: 64, heads: 4, vocabulary: 2000 };

test("what was found and what the agent says are in two tables, and a report without either has none", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const example = letters([2.5, passed]);
  assert.deepEqual(texts(builtSection(example.report())), [[], []]);
  example.gives("iterations", { ...axes, seed: 7 }, researched({}, [], null, "batch 8"));
  const report = example
    .built(axes, {
      ...{ architecture: { type: "gpt2", ...sizes }, stated },
      ...{ given: [{ model: "base", share: 0.999 }], known: ["gpt2"] },
      entered: [{ from: "dataset", id: "owner/set" }],
    })
    .report();
  const [found, words] = texts(builtSection(report));
  assert.deepEqual(found, [
    [
      ...["plain", "1", "gpt2, 2 layers, width 64, 4 heads, vocabulary 2000", "500000", "–"],
      "99 % of base, like gpt2, downloaded dataset owner/set",
    ],
  ]);
  assert.deepEqual(words, [["plain", "1", "gpt2", "brown", "–"]]);
  mustFollow(reportFormat, JSON.parse(json(report)), "report.json");
});

test("the method is the change that the agent noted last, and unknown if its file is cut", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const method = (file: ReturnType<typeof researched>) => {
    const example = letters([2.5, passed]).built(axes, {
      ...{ architecture: null, given: [], known: [], entered: null, stated: null },
    });
    const at = example.members.findIndex(({ role }) => role === "iterations");
    example.members.splice(at, 1);
    const [, words] = texts(builtSection(example.gives("iterations", axes, file).report()));
    return words![0]![4];
  };
  const noted = researched({}, [], null, "batch 8 and Muon");
  assert.equal(method(noted), "batch 8 and Muon");
  const cut = { iterations: { ...noted.iterations, iterationsMore: 1 } };
  assert.equal(method(cut as typeof noted), "–");
});

test("an agent's text of any length takes one line of at most 120 characters in the tables", () => {
  const [, words] = texts(builtSection(nastyExample().report()));
  const cells = words!.flat();
  assert.ok(cells.some((text) => text.endsWith("…")));
  for (const text of cells) {
    assert.ok([...text].length <= 120, text);
    assert.doesNotMatch(text, /[\n\u001b\u202e]/);
  }
});

test("tasks have their limits and counted rules, agents their models, and older reports say unknown", () => {
  const report = letters([2.5, passed])
    .planned({ condition: "open", budget: { timeMs: 86_400_000 } })
    .report();
  const [tasks, agents] = texts(setUpSection(report));
  assert.deepEqual(tasks, [
    ["letters", "Learning letters", "bits ↓", "3.070", "unknown", "24 h 0 m", "2", "1"],
  ]);
  assert.deepEqual(agents, [["plain", "Plain baseline", "command", "–", "–", "time only"]]);
  const old = {
    ...report,
    tasks: report.tasks.map(({ rules: _, ...task }) => task),
    agents: report.agents.map(({ preset: _, ...agent }) => agent),
    attempts: report.attempts.map(({ budget: _, condition: _c, ...attempt }): Attempt => attempt),
  };
  mustFollow(reportFormat, JSON.parse(json(old)), "report.json");
  assert.match(
    markdown(old),
    /\| letters \| Learning letters \| bits ↓ \| .* \| unknown \| unknown \| unknown \|/,
  );
  assert.match(markdown(old), /\| plain \| Plain baseline \| unknown \| unknown \| unknown \| unknown \|/);
});

test("a model that each run chooses and the models of a gateway are named", () => {
  const presets = {
    plain: { kind: "llm", provider: "openai", model: {}, planner: null, scaffold: "react", turnsMax: null },
  };
  const gateway = [{ provider: "anthropic", ids: ["claude-*", "other"] }];
  const cli = { plain: { kind: "command", provider: null, model: null, planner: null, gateway } };
  const modelOf = (given: object) => {
    const example = letters([2.5, passed]);
    Object.assign(example.params, { presets: given });
    return texts(setUpSection(example.report()))[1]![0]!.slice(2, 5);
  };
  assert.deepEqual(modelOf(presets), ["llm", "openai chosen by each run", "react"]);
  assert.deepEqual(modelOf(cli), ["command", "anthropic claude-*, anthropic other", "–"]);
});

function spent(seed: number, dollars: number | null, gpuHours: number | null): Times["attempts"][number] {
  return {
    ...{ task: "letters", agent: "plain", seed, dollars, gpuHours, wallSeconds: 1800 * seed, tokens: null },
    ...{ workingSeconds: null, budgetSeconds: null, ended: null, gpuBusyHours: null },
    ...{ firstValidSeconds: null, improvementPerHour: null, sinceImprovementSeconds: null },
    ...{ unusedShare: null, bestSoFar: [], gpuMemoryPeakMiB: null },
  };
}

test("costs are means over the attempts of which they are known, next to the mean score, and never 0 for unknown", () => {
  const report = letters([2.5, passed], [2.3, passed]).planned({ condition: "open", budget: {} }).report();
  const times = (...attempts: Times["attempts"]): Times => ({
    formatVersion: 1,
    label: "official",
    attempts,
  });
  const paid = times(spent(1, 40.5, 0), spent(2, null, 0));
  const section = costsSection(report, paid);
  assert.deepEqual(texts(section), [[["plain", "bits ↓", "40.50 (1/2)", "45.0 (2/2)", "2.40 (2/2)", "–"]]]);
  assert.match(section.heading, /\(official, open\)$/);
  const held = times(
    { ...spent(1, 40.5, 24), gpuMemoryPeakMiB: 30_000 },
    { ...spent(2, null, 24), gpuMemoryPeakMiB: null },
  );
  assert.equal(texts(costsSection(report, held))[0]![0]![5], "29.3 (1/2)", "GiB at the peak");
});

/** The cells of the last rows of main.tex, without LaTeX's widths. */
function overTasksOf(report: Report): string[][] {
  return tableFiles(report)
    ["main.tex"]!.split("\n")
    .filter((line) => line.includes("Mean over") || line.includes("Mean by"))
    .filter((line) => !line.startsWith("\\caption"))
    .map((line) => line.replaceAll("\\hspace{0pt}", "").replaceAll("$\\pm$", "±").slice(0, -3).split(" & "));
}

/** Two tasks that one metric decides and a third with another; each attempt's score on the scale of its task. */
function threeTasks(scores: Record<string, number[]>, params: Record<string, unknown> = {}): Report {
  const example = new Example({
    label: "official",
    tasks: { one: "One", two: "Two", three: "Three" },
    primary: { one: "bits", two: "bits", three: "right" },
    baselines: { one: { bits: "low" }, two: { bits: "low" }, three: { right: "low" } },
    referenceRows: { one: { bits: "high" }, two: { bits: "high" }, three: { right: "high" } },
    published: { one: null, two: null, three: null },
    rules: { one: [], two: [], three: [] },
    agents: { plain: "Plain" },
    ...params,
  });
  for (const [task, values] of Object.entries(scores)) {
    const scorer = task === "three" ? "right" : "bits";
    const [low, high] = scorer === "bits" ? [4, 2] : [0, 1];
    example.gives(
      "references",
      { task, scorer },
      referenceRows(scorer, [
        { name: "low", value: low, standardError: 0.01 },
        { name: "high", value: high, standardError: 0.01 },
      ]),
    );
    for (const [at, value] of values.entries()) {
      const axes = { task, agent: "plain", seed: at + 1 };
      const items = Array.from({ length: 100 }, (_, index) => ({
        ...{ id: `item-${index}`, weight: 1, value: low + value * (high - low) },
      }));
      example
        .gives("attempt", axes, { submission: `sha256:${task}${at}` })
        .gives("validate", axes, passed)
        .gives("score", { ...axes, scorer }, scored(scorer, items, 0.01));
    }
  }
  return example.report();
}

test("main.tex ends with the mean over tasks and by benchmark, ± as one attempt at each task varies", () => {
  // spreads 0.1·√2, 0.2·√2 and 0; the first two tasks are one benchmark
  const scores = { one: [0.4, 0.6], two: [0.1, 0.5], three: [0.9, 0.9] };
  const [overTasks, byBenchmark] = overTasksOf(threeTasks(scores));
  const spread = Math.hypot(0.1 * Math.SQRT2, 0.2 * Math.SQRT2);
  assert.deepEqual(overTasks, [
    ...["Mean over all 3 tasks", "normalised $\\uparrow$"],
    ...[`${((0.5 + 0.3 + 0.9) / 3).toFixed(2)} ± ${(spread / 3).toFixed(2)}`, "0", "1"],
  ]);
  assert.deepEqual(byBenchmark, [
    ...["Mean by benchmark", "normalised $\\uparrow$"],
    ...[`${((0.4 + 0.9) / 2).toFixed(2)} ± ${(spread / 4).toFixed(2)}`, "0", "1"],
  ]);
});

test("a mean over tasks has no ± where a task has one attempt, or repeats of one, and there is none over one task", () => {
  const scores = { one: [0.4, 0.6], two: [0.3], three: [0.9, 0.9] };
  assert.equal(overTasksOf(threeTasks(scores))[0]![2], "0.57");
  const equal = { one: [0.4, 0.6], two: [0.3, 0.3], three: [0.9, 0.9] };
  assert.match(overTasksOf(threeTasks(equal))[0]![2]!, /^0\.57 ± 0\.05$/);
  const report = threeTasks(equal);
  const cells = report.cells.map((cell) => (cell.task === "two" ? { ...cell, observations: 1 } : cell));
  assert.equal(overTasksOf({ ...report, cells })[0]![2], "0.57");
  assert.deepEqual(overTasksOf(threeTasks({ one: [0.4, 0.6] })), []);
});
