// The steps of one conversation. A model's answer and the results of its tool calls are one step, so a step is
// held until its last result; a bounded number of later steps waits behind it. Pure.
import type {
  LongText,
  ModelCallEvent,
  ToolResultEvent,
  TrajectoryEvent,
} from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource, TrajectoryLine } from "./attempt-source.ts";
import { objectIn } from "./json-pieces.ts";
import { type Conversation, memberOf, type TrajectorySummary } from "./trajectory-walk.ts";

/** Longest text in bytes; the format has no attachments. */
const textMax = 1 << 20;
const waitingMax = 1000;
/** A program's output is joined to steps of at most this many characters. */
const outputMax = 16 << 10;

type OutputEvent = Extract<TrajectoryEvent, { event: "output" }>;

type Result = {
  source_call_id?: string;
  content?: string;
  subagent_trajectory_ref?: { trajectory_id: string }[];
  extra?: Record<string, unknown>;
};
type Step = { step_id?: number; observation?: { results: Result[] }; [field: string]: unknown };

/** `member`: of a team; undefined: what belongs to no member. */
type Of = { conversation: Conversation | undefined; member?: string | undefined; summary: TrajectorySummary };

export function* atifSteps(source: AttemptSource, of: Of): Generator<Step> {
  const steps = new ConversationSteps(source, of);
  let id = 0;
  for (const step of steps.all()) yield { step_id: ++id, ...step };
}

class ConversationSteps {
  readonly #source: AttemptSource;
  readonly #of: Of;
  readonly #conversations: Conversation[];
  readonly #by: string | undefined;
  /** The first conversation, or the program: it also shows what belongs to no conversation. */
  readonly #isMain: boolean;
  /** The answer whose results are awaited; `open` are its calls without one. */
  #held: { step: Step; open: Set<string> } | undefined;
  #waiting: Step[] = [];
  #output: { step: Step; result: Result & { content: string }; stream: string } | undefined;

  constructor(source: AttemptSource, of: Of) {
    const { conversation, member, summary } = of;
    this.#source = source;
    this.#of = of;
    this.#conversations = summary.conversations.filter((one) => one.member === member);
    this.#by = conversation?.by;
    this.#isMain = conversation === undefined || this.#conversations[0] === conversation;
  }

  *all(): Generator<Step> {
    for (const line of this.#source.lines()) {
      const { member, summary } = this.#of;
      if (memberOf(line) !== member) {
        const begins = summary.members.find(({ from }) => from === line.index);
        if (member === undefined && this.#isMain && begins)
          yield* this.#next(beginStep(timeOf(line), begins.name, begins.id));
        continue;
      }
      if (line.kind === "event" && line.event.event === "output" && this.#isMain)
        yield* this.#outputSteps(line.event, timeOf(line));
      else {
        yield* this.#endOutput();
        yield* this.#lineSteps(line);
      }
    }
    yield* this.#endOutput();
    yield* this.#flush();
  }

  *#flush(): Generator<Step> {
    if (this.#held) yield this.#held.step;
    yield* this.#waiting;
    this.#held = undefined;
    this.#waiting = [];
  }

  *#next(step: Step): Generator<Step> {
    if (!this.#held) return yield step;
    this.#waiting.push(step);
    if (this.#waiting.length > waitingMax) yield* this.#flush();
  }

  *#outputSteps({ stream, text }: OutputEvent, at: Timed): Generator<Step> {
    const result = this.#output?.result;
    if (result && this.#output?.stream === stream && result.content.length + text.length <= outputMax) {
      result.content += text;
      return;
    }
    yield* this.#endOutput();
    const begun = { content: text };
    const step = systemStep(at, `the program wrote to ${stream}`, { observation: { results: [begun] } });
    this.#output = { step, result: begun, stream };
  }

  *#endOutput(): Generator<Step> {
    const step = this.#output?.step;
    this.#output = undefined;
    if (step) yield* this.#next(step);
  }

  *#lineSteps(line: TrajectoryLine): Generator<Step> {
    const at = timeOf(line);
    if (line.kind !== "event") {
      if (!this.#isMain) return;
      yield* this.#next(
        line.kind === "broken"
          ? systemStep(at, `the trajectory is damaged: ${line.why}`, { extra: { event: "broken" } })
          : systemStep(at, line.name, { extra: { ...line.fields } }),
      );
      return;
    }
    const { event, index } = line;
    const lonelyTry = this.#isMain && event.event === "model-try" && this.#by === undefined;
    if ("by" in event && event.by !== this.#by && !lonelyTry) yield* this.#otherBegins(index, at);
    else yield* this.#eventSteps(event, index, at);
  }

  /** Another conversation's first event, unless a call of this one began it. */
  *#otherBegins(index: number, at: Timed): Generator<Step> {
    const begins = this.#conversations.find((one) => one.from === index && one.by !== this.#by);
    if (this.#isMain && begins && begins.begunBy?.by !== this.#by)
      yield* this.#next(beginStep(at, begins.by, begins.id));
  }

  *#eventSteps(event: TrajectoryEvent, index: number, at: Timed): Generator<Step> {
    const text = (long: LongText) => this.#inPlace(long);
    switch (event.event) {
      case "message":
        yield* this.#flush();
        yield { ...at, source: event.role, message: text(event.text), extra: { why: event.why } };
        break;
      case "model-call":
        yield* this.#flush();
        this.#held = {
          step: { ...at, ...answer(event, text) },
          open: new Set(event.toolCalls.map((call) => call.id)),
        };
        if (this.#held.open.size === 0) yield* this.#flush();
        break;
      case "tool-call":
        // shown with the answer that made it; a call of no answer is a step of its own
        if (!this.#held?.open.has(event.id))
          yield* this.#next(
            systemStep(at, `${event.name} ran`, { extra: { ...event, input: text(event.input) } }),
          );
        break;
      case "tool-result":
        yield* this.#resultSteps(event, index, at);
        break;
      case "exec":
        if (this.#isMain) yield* this.#next({ ...at, ...programStep(event.argv, index) });
        break;
      default:
        if (this.#isMain || "by" in event)
          yield* this.#next(systemStep(at, event.event, { extra: withTexts(event, text) }));
    }
  }

  *#resultSteps(event: ToolResultEvent, index: number, at: Timed): Generator<Step> {
    const began = this.#conversations.filter(
      ({ begunBy, from }) =>
        begunBy?.by === this.#by && begunBy?.id === event.id && begunBy.index <= index && from <= index,
    );
    const { outcome, exit, rest, durationMs, executed } = event;
    const result: Result = {
      content: this.#inPlace(event.text),
      extra: { outcome, exit, rest, duration_ms: durationMs, executed },
      ...(began.length > 0 && refersTo(began.map(({ id: to }) => to))),
    };
    const held = this.#held;
    if (!held?.open.delete(event.id)) {
      yield* this.#next(systemStep(at, `${event.name} gave`, { observation: { results: [result] } }));
      return;
    }
    const results = held.step.observation?.results ?? [];
    held.step.observation = { results: [...results, { source_call_id: event.id, ...result }] };
    if (held.open.size === 0) yield* this.#flush();
  }

  #inPlace(long: LongText): string {
    if (typeof long === "string") return long;
    const { text, missing } = this.#source.whole(long, textMax);
    return missing === null ? text : `${text}\n[${missing}; sha256 ${long.digest}]`;
  }
}

function systemStep(at: Timed, message: string, more: object): Step {
  return { ...at, source: "system", message, ...more };
}

/** A program that the agent consists of. */
function programStep(argv: string[], index: number): Step {
  const call = { tool_call_id: `exec-${index}`, function_name: "exec", arguments: { argv } };
  return { source: "agent", message: "", llm_call_count: 0, tool_calls: [call] };
}

function answer(event: ModelCallEvent, text: (long: LongText) => string): Step {
  const { reasoning, usage, dollars } = event;
  const calls = event.toolCalls.map(({ id, name, input, malformed }) => ({
    tool_call_id: id,
    function_name: name,
    arguments: objectIn(text(input)) ?? { input: text(input) },
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
    model_name: event.answeredBy ?? event.model,
    message: text(event.text),
    llm_call_count: 1,
    ...(reasoning !== null && { reasoning_content: text(reasoning) }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(Object.keys(metrics).length > 0 && { metrics }),
    extra: {
      call: event.call,
      provider: event.provider,
      model: event.model,
      request_digest: event.requestDigest,
      finish: event.finish,
      duration_ms: event.durationMs,
      tries: event.tries,
    },
  };
}

function beginStep(at: Timed, name: string, id: string): Step {
  return systemStep(at, `${name} began`, { observation: { results: [refersTo([id])] } });
}

function refersTo(ids: string[]): Result {
  return { subagent_trajectory_ref: ids.map((id) => ({ trajectory_id: id })) };
}

function withTexts(event: TrajectoryEvent, text: (long: LongText) => string): Record<string, unknown> {
  return "text" in event ? { ...event, text: text(event.text as LongText) } : { ...event };
}

type Timed = { timestamp?: string };

function timeOf(line: TrajectoryLine): Timed {
  return line.kind !== "broken" && line.time !== null ? { timestamp: line.time } : {};
}
