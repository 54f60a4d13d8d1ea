// Four pages that the five questions of the first screen are asked of: a finished run, one where three stages
// failed, one with a dead attempt, and one of three agents of kind llm.
import type { Report } from "@mlrb/formats/report";
import type { PageData } from "../page/page-data.ts";
import { Example, exampleParams, passed, referenceRows, scored, textItems, verdict } from "./example.ts";
import { samplePage } from "./page-example.ts";

type Fate = number | "disqualified" | "undecided" | { failed: string } | { unscored: string };

/** Attempts at letters, by agent and seed: their bits (lower is better), or what became of them. */
function run(fates: Record<string, Fate[]>, params: Record<string, unknown> = {}): Example {
  const titles = Object.fromEntries(Object.keys(fates).map((agent) => [agent, agent]));
  const example = new Example({ agents: titles, ...params });
  example.gives(
    "references",
    { task: "letters", scorer: "bits" },
    referenceRows("bits", [
      { name: "unigram", value: 3.07, standardError: 0.02 },
      { name: "bigram", value: 2.19, standardError: 0.02 },
    ]),
  );
  for (const [agent, own] of Object.entries(fates))
    for (const [at, fate] of own.entries()) attempt(example, { task: "letters", agent, seed: at + 1 }, fate);
  return example;
}

function attempt(example: Example, axes: { task: string; agent: string; seed: number }, fate: Fate): void {
  const score = { ...axes, scorer: "bits" };
  if (typeof fate === "object" && "failed" in fate) {
    example
      .fails("attempt", axes, "failed", fate.failed)
      .fails("validate", axes, "skipped", "attempt failed")
      .fails("score", score, "skipped", "attempt failed");
    return;
  }
  const judged =
    fate === "disqualified"
      ? verdict("disqualified")
      : fate === "undecided"
        ? verdict("undecided", { answer: "undecided", evidence: "its card names no data" })
        : passed;
  example
    .gives("attempt", axes, { submission: `sha256:${axes.agent}${axes.seed}` })
    .gives("validate", axes, judged);
  if (typeof fate === "object") example.fails("score", score, "failed", fate.unscored);
  else example.gives("score", score, scored("bits", textItems(typeof fate === "number" ? fate : 2.6)));
}

/** The page's stages end as the example's members did. */
function pageOfRun(example: Example): PageData {
  const data = samplePage(example.report());
  const ends = new Map(example.members.map((member) => [member.stage, member]));
  const known = new Set(data.instances.map(({ id }) => id));
  const instances = data.instances.map((instance) => {
    const end = ends.get(instance.id);
    if (!end || end.outcome === "succeeded" || end.outcome === "not-run") return instance;
    return { ...instance, made: null, outcome: { kind: end.outcome, cause: end.cause } };
  });
  const others = example.members.flatMap(({ stage, name, role, axes, outcome, cause }) =>
    known.has(stage) || (outcome !== "failed" && outcome !== "cancelled")
      ? []
      : [
          {
            ...{ id: stage, stage: name, axes, reasons: [], made: null, said: [] },
            ...(role !== undefined && { role }),
            outcome: { kind: outcome, cause },
          },
        ],
  );
  return { ...data, instances: [...instances, ...others] };
}

const noModel = exampleParams.presets.plain;
const llm = (id: string, scaffold: string) => ({
  ...{ kind: "llm", scaffold, turnsMax: 300, provider: "openai", model: { id }, planner: null },
});

/** One attempt, one score and one other stage failed. */
export function threeStagesFailed(): PageData {
  const example = run(
    {
      weak: [3.0, 3.01, { failed: "the sandbox did not start" }],
      good: [2.5, { unscored: "exit code 9" }, 2.52],
    },
    { presets: { weak: noModel, good: noModel } },
  );
  example.fails("calibration", {}, "failed", "no GPU was free");
  return pageOfRun(example);
}

/** One attempt was lost with its supervisor and made again; another continued after its host died. */
export function deadAttempt(): PageData {
  const example = run(
    { weak: [3.0, 3.01, 3.02], good: [2.5, 2.51, 2.52] },
    { presets: { weak: noModel, good: noModel }, label: "official" },
  );
  const resumed = example.members.find(({ stage }) => stage === "attempt[task=letters,agent=good,seed=3]")!;
  resumed.resumed = 1;
  const data = pageOfRun(example);
  const lost = "lost: the attempt started 2026-01-01T00:00:00.000Z ended without a record (its host died)";
  return {
    ...data,
    instances: data.instances.map((one) =>
      one.id === "attempt[task=letters,agent=weak,seed=2]" ? { ...one, reasons: [lost], lost } : one,
    ),
  };
}

/** Three agents of kind llm and five seeds; one attempt failed, one was disqualified, one is undecided. */
export function threeModels(): PageData {
  const example = run(
    {
      "model-a": [2.5, 2.52, 2.49, 2.51, 2.5],
      "model-b": [2.7, 2.72, "disqualified", 2.71, "undecided"],
      "model-c": [2.9, { failed: "the provider refused the model" }, 2.91, 2.92, 2.93],
    },
    {
      label: "official",
      presets: {
        "model-a": llm("large-1", "react"),
        "model-b": llm("large-2", "mlrb-2024"),
        "model-c": llm("small-1", "react"),
      },
    },
  );
  const data = pageOfRun(example);
  const failed = ({ agent, seed }: { agent: string; seed: unknown }) => agent === "model-c" && seed === 2;
  return {
    ...data,
    times: {
      ...data.times!,
      attempts: data.times!.attempts.map((one) => ({
        ...one,
        ...{ wallSeconds: failed(one) ? null : 36_000, gpuHours: failed(one) ? null : 10 },
        dollars: failed(one) ? null : one.agent === "model-c" ? 1.25 : 4,
      })),
    },
  };
}

export function finished(report: Report): PageData {
  return samplePage(report);
}
