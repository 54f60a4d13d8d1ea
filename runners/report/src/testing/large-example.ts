// The data of a page as large as the published protocol makes it: seven tasks, three agents, five seeds, and for
// each attempt the whole extract of a trajectory of 20 000 events. Some attempts fail, some are missing, one rule
// is undecided.
import type { PageData } from "../page/page-data.ts";
import type { StoryLine } from "../story/timeline.ts";
import {
  Example,
  exampleParams,
  pairItems,
  passed,
  referenceRows,
  scored,
  textItems,
  verdict,
} from "./example.ts";
import { samplePage } from "./page-example.ts";

const tasks = ["baby-steps", "compression", "distillation", "efficiency", "merging", "proofs", "small-pile"];
const agents = ["script-weak", "one-loop", "supervisor"];
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
    baselines: of((_, index) => (isBits(index) ? { bits: "unigram" } : { right: 0.25 })),
    referenceRows: of((_, index) => (isBits(index) ? { bits: "bigram" } : {})),
    published: of(() => null),
    rules: of((task) => exampleParams.rules[task as "letters"] ?? []),
    agents: Object.fromEntries(agents.map((agent) => [agent, `The agent ${agent}`])),
    presets: Object.fromEntries(agents.map((agent) => [agent, exampleParams.presets.plain])),
  });
  for (const [index, task] of tasks.entries()) {
    if (isBits(index))
      example.gives(
        "references",
        { task, scorer: "bits" },
        referenceRows("bits", [
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
    stories: data.stories.map(({ task, agent, seed }) => ({
      ...{ task, agent, seed, kind: "read", fits: false, bytes: 12_000_000 },
      ...{
        lines: storyLines(),
        budget: [],
        failures: [],
        members: [],
        experiments: [],
        experimentsMore: 0,
        missing: [],
      },
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
      ? verdict("disqualified")
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

/** As many as a story has, in as many bytes as a page holds of it. */
function storyLines(): StoryLine[] {
  const text = "python3 train.py --rate 0.01 (exit 0, 4 m 12 s): the loss fell to 2.71 again";
  return Array.from({ length: 450 }, (_, at) => ({ sinceStartMs: at * 300_000, what: "shell", text }));
}
