// The steps of one conversation. An answer of a model and the results of what it called are one step, so a step is
// held until its last result is there; what happens meanwhile waits behind it, boundedly. Pure.
import type {
  LongText,
  ModelCallEvent,
  ToolResultEvent,
  TrajectoryEvent,
} from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource, TrajectoryLine } from "./attempt-source.ts";
import type { Conversation, FirstLook } from "./first-look.ts";

/** Of a text in place; the format has no attachments. */
const textMax = 1 << 20;
const waitingMax = 1000;
/** Output of a program is gathered to steps of this many characters. */
const outputMax = 16 << 10;

type Of = { conversation: Conversation | null; look: FirstLook };
type Result = {
  source_call_id?: string;
  content?: string;
  subagent_trajectory_ref?: { trajectory_id: string }[];
  extra?: Record<string, unknown>;
};
type Step = { step_id?: number; observation?: { results: Result[] }; [field: string]: unknown };

export function* atifSteps(source: AttemptSource, of: Of): Generator<Step> {
  let id = 0;
  for (const { step_id: _, ...step } of unnumbered(source, of)) yield { step_id: ++id, ...step };
}

function* unnumbered(source: AttemptSource, { conversation, look }: Of): Generator<Step> {
  const isMain = conversation === null || look.conversations[0]?.by === conversation.by;
  const by = conversation?.by;
  const text = (long: LongText) => inPlace(source, long);
  /** The answer whose results are awaited: of its calls, those without one. */
  let held: { step: Step; open: Set<string> } | undefined;
  let waiting: Step[] = [];
  let output: { step: Step; length: number } | undefined;

  const flushed = function* (): Generator<Step> {
    if (held) yield held.step;
    yield* waiting;
    held = undefined;
    waiting = [];
  };
  const next = function* (step: Step): Generator<Step> {
    if (!held) return yield step;
    waiting.push(step);
    if (waiting.length > waitingMax) yield* flushed();
  };
  const outputEnds = function* (): Generator<Step> {
    if (!output) return;
    const { step } = output;
    output = undefined;
    yield* next(step);
  };

  for (const line of source.lines()) {
    const at = timeOf(line);
    if (line.kind === "event" && line.event.event === "output" && isMain) {
      const { stream, text: said } = line.event;
      if (output && output.step.stream === stream && output.length + said.length <= outputMax) {
        const [result] = (output.step.observation as { results: Result[] }).results;
        result!.content += said;
        output.length += said.length;
        continue;
      }
      yield* outputEnds();
      const step: Step = {
        ...at,
        source: "system",
        message: `the program wrote to ${stream}`,
        observation: { results: [{ content: said }] },
      };
      output = { step: Object.defineProperty(step, "stream", { value: stream }), length: said.length };
      continue;
    }
    yield* outputEnds();
    if (line.kind === "broken") {
      if (isMain)
        yield* next({
          source: "system",
          message: `the trajectory is damaged: ${line.why}`,
          extra: { event: "broken" },
        });
      break;
    }
    if (line.kind === "other") {
      if (isMain) yield* next({ ...at, source: "system", message: line.name, extra: { ...line.fields } });
      continue;
    }
    const { event } = line;
    if ("by" in event && event.by !== by && !(isMain && event.event === "model-try" && by === undefined)) {
      // only where another begins that nothing of this one called for
      const begins = look.conversations.find((one) => one.from === line.index && one.by !== by);
      if (isMain && begins && begins.begunBy?.by !== by)
        yield* next({
          ...at,
          source: "system",
          message: `${begins.by} began`,
          observation: { results: [refers([begins.by])] },
        });
      continue;
    }
    switch (event.event) {
      case "message":
        yield* flushed();
        yield { ...at, source: event.role, message: text(event.text), extra: { why: event.why } };
        break;
      case "model-call": {
        yield* flushed();
        const step = answer(event, text);
        held = { step: { ...at, ...step }, open: new Set(event.toolCalls.map((call) => call.id)) };
        if (held.open.size === 0) yield* flushed();
        break;
      }
      case "tool-call":
        // told with the answer that made it; one that no answer made stands by itself
        if (!held?.open.has(event.id))
          yield* next({
            ...at,
            source: "system",
            message: `${event.name} ran`,
            extra: { ...event, input: text(event.input) },
          });
        break;
      case "tool-result": {
        const began = look.conversations.filter(
          ({ begunBy, from }) =>
            begunBy?.by === by &&
            begunBy?.id === event.id &&
            begunBy.index <= line.index &&
            from <= line.index,
        );
        const result = {
          ...resultOf(event, text),
          ...(began.length > 0 && refers(began.map((one) => one.by))),
        };
        if (held?.open.delete(event.id)) {
          const results = held.step.observation?.results ?? [];
          held.step.observation = { results: [...results, { source_call_id: event.id, ...result }] };
          if (held.open.size === 0) yield* flushed();
        } else
          yield* next({
            ...at,
            source: "system",
            message: `${event.name} gave`,
            observation: { results: [result] },
          });
        break;
      }
      case "exec":
        if (isMain)
          yield* next({
            ...at,
            source: "agent",
            message: "",
            llm_call_count: 0,
            tool_calls: [
              { tool_call_id: `exec-${line.index}`, function_name: "exec", arguments: { argv: event.argv } },
            ],
          });
        break;
      default:
        if (isMain || "by" in event)
          yield* next({ ...at, source: "system", message: event.event, extra: told(event, text) });
    }
  }
  yield* outputEnds();
  yield* flushed();
}

function answer(event: ModelCallEvent, text: (long: LongText) => string): Step {
  const {
    call,
    provider,
    model,
    answeredBy,
    requestDigest,
    reasoning,
    toolCalls,
    usage,
    dollars,
    finish,
    durationMs,
    tries,
  } = event;
  const calls = toolCalls.map(({ id, name, input, malformed }) => ({
    tool_call_id: id,
    function_name: name,
    arguments: argumentsOf(text(input)),
    ...(malformed && { extra: { malformed: true } }),
  }));
  const metrics = {
    ...(usage && { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens }),
    ...(usage && usage.cachedInputTokens !== null && { cached_tokens: usage.cachedInputTokens }),
    ...(dollars !== null && { cost_usd: dollars }),
    ...(usage && usage.reasoningTokens !== null && { extra: { reasoning_tokens: usage.reasoningTokens } }),
  };
  return {
    source: "agent",
    model_name: answeredBy ?? model,
    message: text(event.text),
    llm_call_count: 1,
    ...(reasoning !== null && { reasoning_content: text(reasoning) }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(Object.keys(metrics).length > 0 && { metrics }),
    extra: { call, provider, model, request_digest: requestDigest, finish, duration_ms: durationMs, tries },
  };
}

function resultOf(event: ToolResultEvent, text: (long: LongText) => string): Result {
  const { outcome, exit, rest, durationMs, executed } = event;
  return { content: text(event.text), extra: { outcome, exit, rest, duration_ms: durationMs, executed } };
}

function refers(to: string[]): Result {
  return { subagent_trajectory_ref: to.map((id) => ({ trajectory_id: id })) };
}

function told(event: TrajectoryEvent, text: (long: LongText) => string): Record<string, unknown> {
  return "text" in event ? { ...event, text: text(event.text as LongText) } : { ...event };
}

function argumentsOf(input: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // as it is, then
  }
  return { input };
}

function inPlace(source: AttemptSource, long: LongText): string {
  if (typeof long === "string") return long;
  const { text, missing } = source.whole(long, textMax);
  return missing === null ? text : `${text}\n[${missing}; sha256 ${long.digest}]`;
}

function timeOf(line: TrajectoryLine): { timestamp?: string } {
  return line.kind !== "broken" && line.time !== null ? { timestamp: line.time } : {};
}
