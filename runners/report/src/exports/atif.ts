// An attempt in the Agent Trajectory Interchange Format, version 1.8
// (https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md). The first conversation,
// or the program, is the trajectory; workers are embedded in it, each named after its conversation. So are the
// members of a team, with their own workers. The format refuses unknown keys, so everything else is under `extra`.
// Pure: yields the text in pieces and reads the trajectory once for each conversation.
import { atifSteps } from "./atif-steps.ts";
import type { AttemptSource } from "./attempt-source.ts";
import { jsonPieces, listOf, valueText } from "./json-pieces.ts";
import {
  type Conversation,
  type Member,
  type TrajectorySummary,
  totalUsage,
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
  const [main] = summary.conversations.filter(({ member }) => member === undefined);
  const { axes, slot, ledger } = source;
  const agent = String(axes.agent ?? "agent");
  const version = valueText(summary.start.scaffoldVersion ?? "unknown");
  yield* jsonPieces({
    schema_version: "ATIF-v1.8",
    session_id: source.id,
    trajectory_id: source.id,
    agent: agentOf(agent, version, main),
    steps: listOf(() => atifSteps(source, { conversation: main, summary })),
    notes,
    final_metrics: {
      ...metricsOf(main?.usage),
      extra: {
        all_conversations: metricsOf(totalUsage(summary.conversations)),
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
    ...subagents(source, { agent, version, summary }),
  });
  yield "\n";
}

type Team = { agent: string; version: string; summary: TrajectorySummary };

/** The trajectories of a member's workers; without `of`, of workers that belong to no member, and of members. */
function subagents(source: AttemptSource, team: Team, of?: Member): { subagent_trajectories?: unknown } {
  const { agent, version, summary } = team;
  const one = (id: string, member: string | undefined, conversation: Conversation | undefined) => ({
    schema_version: "ATIF-v1.8",
    session_id: source.id,
    trajectory_id: id,
    agent: agentOf(`${agent}/${id}`, version, conversation),
    steps: listOf(() => atifSteps(source, { conversation, member, summary })),
    final_metrics: metricsOf(conversation?.usage),
  });
  const conversationsOf = (name: string | undefined) =>
    summary.conversations.filter(({ member }) => member === name);
  const workers = conversationsOf(of?.name).slice(1);
  const members = of ? [] : summary.members;
  if (workers.length + members.length === 0) return {};
  return {
    subagent_trajectories: listOf(function* () {
      for (const worker of workers) yield one(worker.id, of?.name, worker);
      for (const member of members) {
        const { name, id, agent: preset, kind } = member;
        const extra = { preset, kind };
        yield { ...one(id, name, conversationsOf(name)[0]), extra, ...subagents(source, team, member) };
      }
    }),
  };
}

function agentOf(name: string, version: string, conversation: Conversation | undefined) {
  const model = conversation?.model;
  return { name, version, ...(model && { model_name: model }) };
}

/** Totals of the steps; unknown is left out, never 0. */
function metricsOf(usage = totalUsage([])) {
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

function incomplete({ state, ledger }: AttemptSource, summary: TrajectorySummary): string | null {
  if (state !== "recorded") return state;
  if (summary.broken !== null) return summary.broken;
  if (summary.end === null) return "the trajectory has no end";
  return ledger.read === null ? ledger.why : null;
}
