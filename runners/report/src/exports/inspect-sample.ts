// One attempt as a sample of an Inspect log, from its trajectory, ledger and scores, field by field after
// inspect-ai 0.3.285. Pure: it reads the trajectory several times and yields long lists in pieces.
import { type AttemptSource, unseenFailure } from "./attempt-source.ts";
import { InspectEvents, type InspectLimit, scoreOf } from "./inspect-events.ts";
import { inspectMessages } from "./inspect-messages.ts";
import { InspectTexts } from "./inspect-texts.ts";
import { seconds, usageOf, utc } from "./inspect-values.ts";
import { listOf, objectOf, valueText } from "./json-pieces.ts";
import { type TrajectorySummary, trajectorySummary } from "./trajectory-walk.ts";

export type SampleFacts = ReturnType<typeof sampleFacts>;
type Budget = { wallMs: number; tokens?: number; dollars?: number };

/** The facts of a sample that a log has before the sample itself. */
export function sampleFacts(source: AttemptSource) {
  const summary = trajectorySummary(source.lines());
  const { axes, slot, startedAt, scores } = source;
  return {
    source,
    summary,
    id: [axes.task, axes.agent, axes.seed].filter((part) => part !== undefined).join("/"),
    task: String(axes.task ?? slot.stage),
    agent: String(axes.agent ?? "agent"),
    startedAt: utc(startedAt),
    /** Of the last event that can be read. */
    endedAt: utc(summary.lastAt ?? startedAt),
    /** A fault of the harness or the record, never of the agent: a failed agent was measured. */
    error: errorOf(source, summary),
    modelUsage: Object.fromEntries([...summary.byModel].map(([name, used]) => [name, usageOf(used)])),
    final: (scores?.final ?? []).filter((score) => score.kind !== "not-measured"),
    budget: source.ledger.read?.budget as Budget | undefined,
  };
}

/** What Inspect has no field for. */
export function attemptFacts({ source, summary }: SampleFacts) {
  const { id, slot, axes, ledger } = source;
  return {
    record: id,
    state: source.state,
    pipeline: slot.pipeline,
    profile: slot.profile,
    stage: slot.stage,
    axes,
    attemptKey: source.key,
    executor: source.executor,
    where: source.where,
    start: summary.start,
    ledger: ledger.read ?? ledger.why,
  };
}

/** Usage by conversation. */
export function roleUsage({ summary }: SampleFacts): SampleFacts["modelUsage"] {
  const asked = summary.conversations.filter(({ usage: { calls } }) => calls > 0);
  return Object.fromEntries(asked.map(({ id, usage }) => [id, usageOf(usage)]));
}

export function inspectSample(facts: SampleFacts, metadata: object): object {
  const { source, summary, id, task, startedAt, endedAt, error, final } = facts;
  const ledger = source.ledger.read;
  const [main] = summary.conversations;
  const limit = limitOf(source);
  const texts = new InspectTexts(source);
  return {
    id,
    epoch: 1,
    input:
      summary.prompt === null
        ? `The prompt of task ${task}, of digest ${valueText(summary.start.promptDigest ?? "unknown")}.`
        : texts.inline(summary.prompt),
    target: "",
    metadata: { mlrb: metadata },
    messages: listOf(() => (main === undefined ? [] : inspectMessages(source.lines(), texts, main))),
    scores: Object.fromEntries(final.map((score) => [score.name, scoreOf(score)])),
    store: {},
    events: listOf(() => new InspectEvents(source, { summary, texts, limit }).all()),
    ...(summary.conversations.length > 0 && {
      events_data: { messages: listOf(() => inspectMessages(source.lines(), texts)), calls: [] },
    }),
    model_usage: facts.modelUsage,
    role_usage: roleUsage(facts),
    started_at: startedAt,
    ...(source.state !== "running" && { completed_at: endedAt }),
    total_time: seconds(ledger?.wallMs ?? summary.lastSinceStartMs),
    working_time: seconds(ledger?.workingMs ?? summary.lastSinceStartMs),
    uuid: source.id.slice(0, 22),
    ...(error && { error }),
    ...(limit?.limit !== undefined && {
      limit: { type: limit.type, limit: limit.limit, reason: limit.message },
    }),
    // last, after every reference to an attachment
    attachments: objectOf(() => texts.entries()),
  };
}

function errorOf({ state, failure, ledger }: AttemptSource, summary: TrajectorySummary) {
  if (state === "running") return undefined;
  const why: string[] = [];
  if (state === "lost") why.push(failure ?? unseenFailure);
  if (summary.broken !== null) why.push(`its trajectory is damaged: ${summary.broken}`);
  else if (summary.end === null) why.push("its trajectory has no end");
  if (ledger.read === null) why.push(ledger.why);
  if (why.length === 0) return undefined;
  return { message: why.join("; "), traceback: "", traceback_ansi: "" };
}

/** The limit of the budget that ended it, in Inspect's words. */
function limitOf({ ledger: { read } }: AttemptSource): InspectLimit | undefined {
  if (read === null) return undefined;
  const { wallMs, tokens, dollars } = read.budget as Budget;
  const limits = new Map<string, [type: string, limit?: number | undefined]>([
    ["time-limit", ["working", seconds(wallMs)]],
    ["token-limit", ["token", tokens]],
    ["dollar-limit", ["cost", dollars]],
    ["turn-limit", ["turn"]],
  ]);
  const [type, limit] = limits.get(read.ended) ?? [];
  const message = `ended by the supervisor: ${read.ended}`;
  return type === undefined ? undefined : { type, message, ...(limit !== undefined && { limit }) };
}
