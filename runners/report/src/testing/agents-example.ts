// The data of a page with three agents of kind `llm` at two tasks, with five seeds and five points in time: one that
// improves early, one late, one that fails. Costs, the parts of the time and the experiments are made up as well.
import type { PageData, PageExperiment } from "../page/page-data.ts";
import {
  Example,
  exampleParams,
  pairItems,
  passed,
  referenceRows,
  rejectedScore,
  researched,
  scored,
  textItems,
  verdict,
} from "./example.ts";
import { samplePage } from "./page-example.ts";

export const exampleAgents = ["agent-a", "agent-b", "agent-c"];
const seeds = [1, 2, 3, 4, 5];
const checkpoints = ["10%", "25%", "50%", "75%"];
const budgetMs = 4 * 3_600_000;

/** Share of the way from the trivial baseline to the reference model at 10, 25, 50, 75 and 100 % of the budget. */
const progress: Record<string, number[]> = {
  "agent-a": [0.35, 0.7, 0.8, 0.82, 0.84],
  "agent-b": [0, 0.1, 0.45, 0.9, 1.1],
  "agent-c": [0.1, 0.2, 0.3, 0.35, 0.3],
};

/** `checkpoint` false: no point in time before the end is planned. */
export function agentsExample({ overTime = true } = {}): PageData {
  const preset = { ...exampleParams.presets.strong, planner: null, provider: "made-up", turnsMax: 100 };
  const example = new Example({
    title: "Three agents at two tasks",
    label: "official",
    agents: Object.fromEntries(exampleAgents.map((agent) => [agent, `The agent ${agent}`])),
    presets: Object.fromEntries(
      exampleAgents.map((agent) => [agent, { ...preset, model: { id: `model-${agent.at(-1)}` } }]),
    ),
    published: { letters: null, numbers: null },
  });
  for (const [scorer, task, low, high] of [
    ["bits", "letters", 4, 2.5],
    ["right", "numbers", 0.25, 0.75],
  ] as const) {
    example.gives(
      "references",
      { task, scorer },
      referenceRows(scorer, [
        { name: scorer === "bits" ? "unigram" : "majority", value: low, standardError: 0.01 },
        { name: scorer === "bits" ? "bigram" : "best", value: high, standardError: 0.01 },
      ]),
    );
    for (const agent of exampleAgents)
      for (const seed of seeds) attempt(example, { task, scorer, agent, seed, overTime });
  }
  example.planned({ condition: "no-network", budget: { timeMs: budgetMs, dollars: 20 } });
  const data = samplePage(example.report());
  return { ...data, times: timesOf(data), stories: storiesOf(data) };
}

type Planned = {
  task: "letters" | "numbers";
  scorer: "bits" | "right";
  agent: string;
  seed: number;
  overTime: boolean;
};

function attempt(example: Example, { task, scorer, agent, seed, overTime }: Planned): void {
  const axes = { task, agent, seed };
  const wobble = Math.sin(seed * 7.3 + agent.charCodeAt(6)) * 0.08;
  const at = (index: number) => {
    const level = Math.max(-0.1, progress[agent]![index]! + wobble * Math.min(1, index / 2));
    return scorer === "bits"
      ? scored("bits", textItems(4 - 1.5 * level))
      : scored("right", pairItems(Math.round(50 + 100 * level)));
  };
  if (agent === "agent-c" && seed === 5 && task === "numbers") {
    example
      .fails("attempt", axes, "failed", "the sandbox did not start")
      .fails("validate", axes, "skipped", "attempt failed")
      .fails("score", { ...axes, scorer }, "skipped", "attempt failed");
    return;
  }
  const disqualified = agent === "agent-c" && seed === 2 && task === "letters";
  const spoiled = agent === "agent-c" && seed === 4;
  example
    .gives("attempt", axes, { submission: `sha256:${task}${agent}${seed}` })
    .gives(
      "validate",
      axes,
      disqualified ? verdict("disqualified") : spoiled ? verdict("rejected", { answer: "pass" }) : passed,
    )
    .gives("iterations", axes, researched({ metric: { name: scorer, split: "dev" }, executedIterations: 8 }))
    .gives("score", { ...axes, scorer }, spoiled ? rejectedScore(scorer, "config.json is missing") : at(4));
  if (!overTime) return;
  for (const [index, checkpoint] of checkpoints.entries()) {
    const then = { ...axes, checkpoint };
    if (agent === "agent-a" && seed === 3 && checkpoint === "50%") {
      example
        .fails("checkpoint", then, "failed", "it was not kept")
        .fails("checkpoint-score", { ...then, scorer }, "skipped", "checkpoint failed");
      continue;
    }
    const none = progress[agent]![index] === 0;
    const stood = none ? { kind: "none" } : { kind: "snapshot", name: `000${index}` };
    example
      .gives("checkpoint", then, {
        checkpoint: { formatVersion: 1, stood, admitted: !none, reasons: [] },
        contents: `sha256:${none ? "empty" : `${task}${agent}${seed}at${checkpoint}`}`,
      })
      .gives(
        "checkpoint-score",
        { ...then, scorer },
        none ? rejectedScore(scorer, "not admitted: nothing was handed in") : at(index),
      );
  }
}

/** The dollars of agent-c and the parts of one attempt's time are unknown. */
function timesOf({ times }: PageData): PageData["times"] {
  const attempts = times!.attempts.map((one, at) => {
    const rank = exampleAgents.indexOf(one.agent);
    const wallSeconds = 3600 * (1 + 1.2 * rank) + 60 * (at % 7);
    return {
      ...one,
      bestSoFar: experimentsOf(one.task, Number(one.seed))
        .filter(({ decision }) => decision === "keep")
        .map(({ sinceStartMs, metric }) => ({ seconds: sinceStartMs / 1000, value: metric!.value! })),
      ...(at !== 0 && {
        timeSpent: {
          waitSeconds: 60 * (at % 3),
          modelSeconds: (0.2 + 0.2 * rank) * wallSeconds,
          programSeconds: (0.7 - 0.25 * rank) * wallSeconds,
        },
      }),
      ...{ wallSeconds, workingSeconds: wallSeconds - 300, budgetSeconds: budgetMs / 1000 },
      ...{ tokens: 200_000 * (rank + 1), gpuHours: 0, dollars: 2 + 3 * rank + 0.1 * (at % 5) },
    };
  });
  return { ...times!, attempts };
}

function storiesOf({ stories }: PageData): PageData["stories"] {
  return stories.map(({ task, agent, seed }) => ({
    ...{
      task,
      agent,
      seed,
      kind: "read",
      lines: [],
      fits: true,
      bytes: 1000,
      budget: [],
      failures: [],
      members: [],
    },
    ...{ experiments: experimentsOf(task, Number(seed)), experimentsMore: 0, missing: [] },
  }));
}

/** A change every quarter of an hour, of which the agent keeps those that its own validation likes. */
function experimentsOf(task: string, seed: number): PageExperiment[] {
  const name = task === "letters" ? "bits" : "right";
  const values = Array.from({ length: 8 }, (_, at) => 0.3 + 0.05 * at + 0.1 * Math.sin(at * 3 + seed));
  return values.map((value, at) => ({
    ...{ sinceStartMs: 900_000 * (at + 0.5), what: `change number ${at + 1}`, source: "agent" },
    metric: { name, split: "dev", value: task === "letters" ? 4 - value : value },
    decision: value >= Math.max(...values.slice(0, at + 1)) ? "keep" : "revert",
  }));
}
