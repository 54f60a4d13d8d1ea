// The data of a page as large as the published protocol makes it: seven tasks, three agents, five seeds, and for each
// attempt the whole extract of a trajectory of 20 000 events. Some attempts fail, some are missing, one rule is undecided.
import type { PageData, PageEvent } from "../page/page-data.ts";
import {
  anchorRows,
  Example,
  exampleParams,
  pairItems,
  passed,
  scored,
  textItems,
  verdict,
} from "./example.ts";
import { samplePage } from "./page-example.ts";

const tasks = ["baby-steps", "compression", "distillation", "efficiency", "merging", "proofs", "small-pile"];
const agents = ["minimal", "one-loop", "supervisor"];
const seeds = [1, 2, 3, 4, 5];

export function largeExample(): PageData {
  const of = <T>(value: (task: string, index: number) => T) =>
    Object.fromEntries(tasks.map((task, index) => [task, value(task, index)]));
  const isBits = (index: number) => index % 3 !== 1;
  const example = new Example({
    title: "Research over seven tasks",
    label: "official",
    tasks: of((task) => `The task ${task}`),
    primary: of((_, index) => (isBits(index) ? "bits" : "right")),
    floors: of((_, index) => (isBits(index) ? { bits: "unigram" } : { right: 0.25 })),
    anchorRows: of((_, index) => (isBits(index) ? { bits: "bigram" } : {})),
    published: of(() => null),
    rules: of((task) => exampleParams.rules[task as "letters"] ?? []),
    agents: Object.fromEntries(agents.map((agent) => [agent, `The agent ${agent}`])),
    presets: Object.fromEntries(agents.map((agent) => [agent, exampleParams.presets.plain])),
  });
  for (const [index, task] of tasks.entries()) {
    if (isBits(index))
      example.gives(
        "anchors",
        { task, scorer: "bits" },
        anchorRows("bits", [
          { name: "unigram", value: 4, standardError: 0.01 },
          { name: "bigram", value: 2.5, standardError: 0.01 },
        ]),
      );
    for (const [rank, agent] of agents.entries())
      for (const seed of seeds) attempt(example, { task, index, agent, rank, seed, isBits: isBits(index) });
  }
  const data = samplePage(example.report());
  return {
    ...data,
    times: spent(data.times!),
    trajectories: data.trajectories.map((one) => ({
      task: one.task,
      agent: one.agent,
      seed: one.seed,
      kind: "read",
      lines: 20_000,
      events: events(),
      budget: [],
      failures: [],
      partly: true,
    })),
  };
}

type Planned = { task: string; index: number; agent: string; rank: number; seed: number; isBits: boolean };

function attempt(example: Example, { task, index, agent, rank, seed, isBits }: Planned): void {
  const axes = { task, agent, seed };
  const scorer = isBits ? "bits" : "right";
  const place = index * 15 + rank * 5 + seed;
  if (place % 29 === 0) {
    example
      .fails("attempt", axes, "failed", "the sandbox did not start")
      .fails("validate", axes, "skipped", "attempt failed")
      .fails("score", { ...axes, scorer }, "skipped", "attempt failed");
    return;
  }
  const judged =
    place % 13 === 0
      ? verdict("struck")
      : place % 17 === 0
        ? verdict("undecided", { answer: "undecided" })
        : passed;
  const wobble = Math.sin(place * 7.3) * 0.15;
  const level = rank * 0.22 + index * 0.06 + wobble;
  const score = isBits
    ? scored("bits", textItems(3.9 - 1.3 * level))
    : scored("right", pairItems(Math.round(60 + 100 * level)));
  example
    .gives("attempt", axes, { submission: `sha256:${task}${agent}${seed}` })
    .gives("validate", axes, judged)
    .gives("score", { ...axes, scorer }, score);
}

/** The costs of one agent are unknown. */
function spent(times: NonNullable<PageData["times"]>): PageData["times"] {
  const attempts = times.attempts.map((one, at) => {
    const rank = agents.indexOf(one.agent);
    return {
      ...one,
      wallSeconds: 3600 * (4 + 8 * rank) + 60 * (at % 17),
      gpuHours: 4 + 8 * rank + (at % 3),
      dollars: rank === 2 ? null : 3 + 20 * rank + (at % 5),
    };
  });
  return { ...times, attempts };
}

/** As many as an extract holds, each as long as it may be. */
function events(): PageEvent[] {
  const text = "It trains the model with a larger rate and looks at the loss on held-out text. ".repeat(5);
  return Array.from({ length: 120 }, (_, at): PageEvent => {
    const of = { sinceStartMs: at * 300_000, text: "", skippedBefore: at % 15 === 14 };
    if (at % 3 === 0)
      return {
        ...of,
        event: "model-call",
        turn: { kind: "answer", by: "agent", facts: `call ${at} of agent`, reasoning: "", text },
      };
    if (at % 3 === 1)
      return {
        ...of,
        event: "tool-result",
        turn: {
          kind: "tool",
          by: "agent",
          name: "shell",
          input: { kind: "command", text: "python3 train.py --rate 0.01" },
          facts: "done, exit 0, 12 s",
          bad: false,
          output: text,
        },
      };
    return { ...of, event: "output", text };
  });
}
