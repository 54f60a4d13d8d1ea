// An attempt as a log of Inspect AI, format 2, which `inspect view` shows and `read_eval_log` reads
// (https://inspect.aisi.org.uk/eval-logs.html; field by field after inspect-ai 0.3.285). Unknown keys are dropped
// there without a word, so what Inspect has no place for stands in `metadata` and in info events of source "mlrb".
// One attempt is a log of one sample. Pure: it gives the text in pieces and reads the trajectory several times.
import type { AttemptSource } from "./attempt-source.ts";
import { type FirstLook, firstLook } from "./first-look.ts";
import { type InspectLimit, inspectEvents, scoreOf } from "./inspect-events.ts";
import { inspectConversation, inspectPool } from "./inspect-messages.ts";
import { InspectTexts } from "./inspect-texts.ts";
import { seconds, usageOf, utc } from "./inspect-values.ts";
import { jsonPieces, listOf, objectOf } from "./json-pieces.ts";

/** What Inspect calls a model where an agent used none that anybody could count. */
const noModel = "none/none";

export function* inspectLog(source: AttemptSource): Generator<string> {
  const look = firstLook(source.lines());
  const { id, slot, axes, startedAt, scores } = source;
  const ledger = source.ledger.read;
  const task = String(axes.task ?? slot.stage);
  const epoch = 1;
  const main = look.conversations[0]?.by;
  const model = [...look.byModel.keys()][0] ?? noModel;
  const error = errorOf(source, look);
  const created = utc(startedAt);
  const endedAt = utc(look.lastAt ?? startedAt);
  const final = (scores?.final ?? []).filter((score) => score.kind !== "not-measured");
  const limit = limitOf(source);
  const texts = new InspectTexts(source);
  const usage = Object.fromEntries([...look.byModel].map(([name, used]) => [name, usageOf(used)]));
  const roles = Object.fromEntries(
    look.conversations
      .filter(({ usage: { calls } }) => calls > 0)
      .map(({ by, usage: used }) => [by, usageOf(used)]),
  );
  const facts = {
    mlrb: {
      record: id,
      state: source.state,
      pipeline: slot.pipeline,
      profile: slot.profile,
      stage: slot.stage,
      axes,
      attemptKey: source.key,
      executor: source.executor,
      where: source.where,
      start: look.start,
      ledger: ledger ?? (source.ledger.read === null ? source.ledger.why : null),
    },
  };
  const budget = ledger?.budget as { wallMs: number; tokens?: number; dollars?: number } | undefined;
  yield* jsonPieces({
    version: 2,
    status: source.state === "running" ? "started" : error ? "error" : "success",
    eval: {
      eval_id: id.slice(0, 22),
      run_id: id.slice(0, 22),
      created,
      task: `mlrb/${task}`,
      task_id: source.key.slice(0, 22),
      task_version: 0,
      task_attribs: {},
      task_args: { agent: String(axes.agent ?? ""), seed: String(axes.seed ?? "") },
      task_args_passed: {},
      solver: `mlrb/${String(axes.agent ?? "agent")}`,
      dataset: { name: task, samples: 1, sample_ids: [sampleId(axes)], shuffled: false },
      model,
      model_generate_config: {},
      model_args: {},
      config: {
        epochs: epoch,
        ...(budget && { working_limit: Math.ceil(budget.wallMs / 1000) }),
        ...(budget?.tokens !== undefined && { token_limit: budget.tokens }),
        ...(budget?.dollars !== undefined && { cost_limit: budget.dollars }),
      },
      packages: {},
      metadata: facts,
    },
    plan: {
      name: "plan",
      steps: [{ solver: `mlrb/${String(axes.agent ?? "agent")}`, params: {}, params_passed: {} }],
      config: {},
    },
    results: {
      total_samples: 1,
      completed_samples: error || source.state === "running" ? 0 : 1,
      scores: final
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
        })),
    },
    stats: {
      started_at: created,
      completed_at: source.state === "running" ? "" : endedAt,
      model_usage: usage,
      role_usage: roles,
    },
    ...(error && { error }),
    samples: listOf(() => [
      {
        id: sampleId(axes),
        epoch,
        input:
          look.prompt === null
            ? `The prompt of task ${task}, of digest ${String(look.start.promptDigest ?? "unknown")}.`
            : texts.inline(look.prompt),
        target: "",
        metadata: { mlrb: { record: id } },
        messages: listOf(() => (main === undefined ? [] : inspectConversation(source.lines(), main, texts))),
        scores: Object.fromEntries(final.map((score) => [score.name, scoreOf(score)])),
        store: {},
        events: listOf(() => inspectEvents(source, { look, texts, limit })),
        ...(look.conversations.length > 0 && {
          events_data: { messages: listOf(() => inspectPool(source.lines(), texts)), calls: [] },
        }),
        model_usage: usage,
        role_usage: roles,
        started_at: created,
        ...(source.state !== "running" && { completed_at: endedAt }),
        total_time: seconds(ledger?.wallMs ?? look.lastSinceStartMs),
        working_time: seconds(ledger?.workingMs ?? look.lastSinceStartMs),
        uuid: id.slice(0, 22),
        ...(error && { error }),
        ...(limit?.limit !== undefined && {
          limit: { type: limit.type, limit: limit.limit, reason: limit.message },
        }),
        // after everything that refers to them
        attachments: objectOf(() => texts.entries()),
      },
    ]),
  });
  yield "\n";
}

function sampleId({ task, agent, seed }: AttemptSource["axes"]): string {
  return [task, agent, seed].filter((part) => part !== undefined).join("/");
}

/** Of the harness or the record, never of the agent: an agent that failed has been measured. */
function errorOf(
  { state, ledger }: AttemptSource,
  look: FirstLook,
): { message: string; traceback: string; traceback_ansi: string } | undefined {
  if (state === "running") return undefined;
  const why: string[] = [];
  if (state === "lost") why.push("its supervisor ended without a word, so nothing was measured");
  if (look.broken !== null) why.push(`its trajectory is damaged: ${look.broken}`);
  else if (look.end === null) why.push("its trajectory has no end");
  if (ledger.read === null) why.push(ledger.why);
  if (why.length === 0) return undefined;
  return { message: why.join("; "), traceback: "", traceback_ansi: "" };
}

/** The limit of the budget that ended it, in Inspect's words. */
function limitOf({ ledger: { read } }: AttemptSource): InspectLimit | undefined {
  if (read === null) return undefined;
  const budget = read.budget as { wallMs: number; tokens?: number; dollars?: number };
  const made = (type: string, limit: number | undefined): InspectLimit => ({
    type,
    message: `ended by the supervisor: ${read.ended}`,
    ...(limit !== undefined && { limit }),
  });
  switch (read.ended as string) {
    case "time-limit":
      return made("working", seconds(budget.wallMs));
    case "token-limit":
      return made("token", budget.tokens);
    case "dollar-limit":
      return made("cost", budget.dollars);
    case "turn-limit":
      return made("turn", undefined);
    default:
      return undefined;
  }
}
