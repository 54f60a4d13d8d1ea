// Attempts as a log of Inspect AI, format 2, which `inspect view` shows and `read_eval_log` reads
// (https://inspect.aisi.org.uk/eval-logs.html; field by field after inspect-ai 0.3.285). Inspect silently drops
// unknown keys, so everything that it has no field for is in `metadata` and in info events of source "mlrb".
// A log holds one attempt, or all attempts of a run as its samples. Pure: it yields the text in pieces.
import { createHash } from "node:crypto";
import type { AttemptSource } from "./attempt-source.ts";
import { attemptFacts, inspectSample, roleUsage, type SampleFacts, sampleFacts } from "./inspect-sample.ts";
import { addedUsage, utc } from "./inspect-values.ts";
import { jsonPieces, listOf } from "./json-pieces.ts";

/** Inspect's model name where no model call was counted, and where attempts used several models. */
const [noModel, severalModels] = ["none/none", "mlrb/several"];

/** The name under which Inspect's own listing finds a log: time, task, id. */
export function inspectFileName(sources: readonly AttemptSource[]): string {
  const { id, task, createdAt } = headerOf(sources);
  const time = createdAt.replace(/\.\d+/, "").replaceAll(":", "-");
  return `${time}_${task.replaceAll(/[^A-Za-z0-9.-]+/g, "-").slice(0, 150)}_${id}.json`;
}

/** `sources`: one attempt, or those of one run. */
export function* inspectLog(sources: readonly AttemptSource[]): Generator<string> {
  const samples = sources.map(sampleFacts);
  const only = samples.length === 1 ? samples[0]! : undefined;
  const { id, task, createdAt } = headerOf(sources);
  const agents = new Set(samples.map(({ agent }) => agent));
  const agent = agents.size === 1 ? [...agents][0]! : "several";
  const models = new Set(samples.map(({ summary }) => [...summary.byModel.keys()][0] ?? noModel));
  const running = samples.some(({ source: { state } }) => state === "running");
  const measured = samples.filter(({ source, error }) => !error && source.state !== "running");
  const { pipeline, profile } = samples[0]!.source.slot;
  const [endedAt] = samples
    .map((sample) => sample.endedAt)
    .toSorted()
    .reverse();
  // in a log of several attempts each sample has its own
  const error = only?.error;
  yield* jsonPieces({
    version: 2,
    status: running ? "started" : error ? "error" : "success",
    eval: {
      eval_id: id,
      run_id: id,
      created: createdAt,
      task: `mlrb/${task}`,
      task_id: only ? only.source.key.slice(0, 22) : id,
      task_version: 0,
      task_attribs: {},
      task_args: only
        ? { agent: only.agent, seed: String(only.source.axes.seed ?? "") }
        : { pipeline, profile },
      task_args_passed: {},
      solver: `mlrb/${agent}`,
      dataset: {
        name: task,
        samples: samples.length,
        sample_ids: samples.map((sample) => sample.id),
        shuffled: false,
      },
      model: models.size === 1 ? [...models][0]! : severalModels,
      model_generate_config: {},
      model_args: {},
      config: { epochs: 1, ...(only && budgetOf(only)) },
      packages: {},
      metadata: { mlrb: only ? attemptFacts(only) : { pipeline, profile } },
    },
    plan: {
      name: "plan",
      steps: [{ solver: `mlrb/${agent}`, params: {}, params_passed: {} }],
      config: {},
    },
    results: {
      total_samples: samples.length,
      completed_samples: measured.length,
      // only the report computes means over attempts, by its rules; here are the scores of one attempt
      scores: only ? scoresOf(only) : [],
    },
    stats: {
      started_at: createdAt,
      completed_at: running ? "" : endedAt,
      model_usage: addedUsage(samples.map(({ modelUsage }) => modelUsage)),
      role_usage: addedUsage(samples.map(roleUsage)),
    },
    ...(error && { error }),
    samples: listOf(function* () {
      for (const sample of samples)
        yield inspectSample(sample, only ? { record: sample.source.id } : attemptFacts(sample));
    }),
  });
  yield "\n";
}

/** Of several attempts: the run's. The same attempts give the same id. */
function headerOf(sources: readonly AttemptSource[]) {
  const [first] = sources;
  if (!first) throw new Error("bug: a log of no attempt");
  const createdAt = sources.map(({ startedAt }) => utc(startedAt)).sort()[0]!;
  if (sources.length === 1)
    return { id: first.id.slice(0, 22), task: String(first.axes.task ?? first.slot.stage), createdAt };
  const ids = sources.map(({ id }) => id).join(" ");
  const id = createHash("sha256").update(ids).digest("hex").slice(0, 22);
  return { id, task: first.slot.pipeline, createdAt };
}

function budgetOf({ budget }: SampleFacts) {
  if (!budget) return {};
  const { wallMs, tokens, dollars } = budget;
  return {
    working_limit: Math.ceil(wallMs / 1000),
    ...(tokens !== undefined && { token_limit: tokens }),
    ...(dollars !== undefined && { cost_limit: dollars }),
  };
}

function scoresOf({ final }: SampleFacts): object[] {
  return final
    .filter((score) => score.kind === "scored")
    .map((score) => ({
      name: score.name,
      scorer: score.name,
      scored_samples: 1,
      unscored_samples: 0,
      params: {},
      metrics: {
        [score.name]: { name: score.name, value: score.value, params: {} },
        stderr: { name: "stderr", value: score.standardError, params: {} },
      },
    }));
}
