// An attempt in the Agent Trajectory Interchange Format, version 1.8
// (https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md). The first conversation,
// or the program, is the trajectory; workers are embedded in it, each named after its conversation. The format
// refuses unknown keys, so everything else is under `extra`. Pure: yields the text in pieces and reads the
// trajectory once for each conversation.
import { atifSteps } from "./atif-steps.ts";
import type { AttemptSource } from "./attempt-source.ts";
import { jsonPieces, listOf, valueText } from "./json-pieces.ts";
import {
  addUsage,
  type Conversation,
  nothing,
  type TrajectorySummary,
  trajectorySummary,
} from "./trajectory-walk.ts";

const notes =
  "Made by mlrb from the supervisor's own record. A step of source agent with llm_call_count 1 is an answer of a " +
  "model with the results of its tool calls; one with 0 is a program that the agent consists of. Steps of source " +
  "system whose extra names an event hold what else the supervisor recorded: output, snapshots, budget, waits, " +
  "iterations as the agent reported them, failed tries of model calls.";

/** Attempts of one run sort by task, agent and seed. */
export function atifFileName({ id, axes, slot }: AttemptSource): string {
  const named = [axes.task, axes.agent, axes.seed].filter((part) => part !== undefined);
  const words = (named.length > 0 ? named : [slot.stage]).join("_");
  const plain = words.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[.-]+/, "");
  return `${plain.slice(0, 150)}_${id.slice(0, 12)}.json`;
}

export function* atif(source: AttemptSource): Generator<string> {
  const summary = trajectorySummary(source.lines());
  const [main, ...workers] = summary.conversations;
  const { axes, slot, ledger } = source;
  const agent = String(axes.agent ?? "agent");
  const version = valueText(summary.start.scaffoldVersion ?? "unknown");
  yield* jsonPieces({
    schema_version: "ATIF-v1.8",
    session_id: source.id,
    trajectory_id: source.id,
    agent: agentOf(agent, version, main),
    steps: listOf(() => atifSteps(source, { conversation: main ?? null, summary })),
    notes,
    final_metrics: {
      ...metricsOf(main?.usage),
      extra: {
        all_conversations: metricsOf(total(summary)),
        gpu_hours: ledger.read?.gpuHours ?? null,
        gpu_busy_seconds: typeof ledger.read?.gpuBusyMs === "number" ? ledger.read.gpuBusyMs / 1000 : null,
        gpu_memory_peak_mib: ledger.read?.gpuMemoryPeakMiB ?? null,
        wall_seconds: ledger.read ? ledger.read.wallMs / 1000 : null,
        working_seconds: ledger.read ? ledger.read.workingMs / 1000 : null,
      },
    },
    extra: {
      source: "mlrb",
      state: source.state,
      pipeline: slot.pipeline,
      profile: slot.profile,
      stage: slot.stage,
      axes,
      attempt_key: source.key,
      started_at: source.startedAt,
      executor: source.executor,
      where: source.where,
      incomplete: incomplete(source, summary),
      ledger: ledger.read,
      scores: source.scores,
    },
    ...(workers.length > 0 && {
      subagent_trajectories: listOf(() =>
        workers.map((worker) => subagent(source, { worker, agent, version, summary })),
      ),
    }),
  });
  yield "\n";
}

type Worker = { worker: Conversation; agent: string; version: string; summary: TrajectorySummary };

function subagent(source: AttemptSource, { worker, agent, version, summary }: Worker) {
  return {
    schema_version: "ATIF-v1.8",
    session_id: source.id,
    trajectory_id: worker.by,
    agent: agentOf(`${agent}/${worker.by}`, version, worker),
    steps: listOf(() => atifSteps(source, { conversation: worker, summary })),
    final_metrics: metricsOf(worker.usage),
  };
}

function agentOf(name: string, version: string, conversation: Conversation | undefined) {
  const model = conversation?.model;
  return { name, version, ...(model && { model_name: model }) };
}

/** Totals of the steps; unknown is left out, never 0. */
function metricsOf(usage = nothing()) {
  if (usage.calls === 0) return {};
  const { calls, uncounted, inputTokens, outputTokens, cachedInputTokens, dollars } = usage;
  return {
    ...(uncounted < calls && {
      total_prompt_tokens: inputTokens,
      total_completion_tokens: outputTokens,
      total_cached_tokens: cachedInputTokens,
    }),
    ...(dollars !== null && { total_cost_usd: dollars }),
    ...(uncounted > 0 && { extra: { calls_without_usage: uncounted } }),
  };
}

function total({ conversations }: TrajectorySummary) {
  const sum = nothing();
  for (const { usage } of conversations) addUsage(sum, usage);
  return sum;
}

function incomplete({ state, ledger }: AttemptSource, summary: TrajectorySummary): string | null {
  if (state !== "recorded") return state;
  if (summary.broken !== null) return summary.broken;
  if (summary.end === null) return "the trajectory has no end";
  return ledger.read === null ? ledger.why : null;
}
