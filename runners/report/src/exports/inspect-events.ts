// A trajectory's events as Inspect's. An iteration is a span of type "iteration": it lasts from the end of the one
// before to the line that reports it, since agents report experiments afterwards. Workers and members of a team are
// spans of type "agent"; a member's span holds all that it and its workers did. What is read of the research comes
// last, with its source. An event that Inspect has no kind for is an info event of source "mlrb", whole. Pure.
import { ResearchReader } from "@mlrb/core/iterations/attempt-iterations";
import type { LongText, ToolResultEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource, NamedScore, TrajectoryLine } from "./attempt-source.ts";
import { modelEvent, type Place, toolEvent } from "./inspect-calls.ts";
import { isSaid } from "./inspect-messages.ts";
import type { InspectTexts } from "./inspect-texts.ts";
import { seconds, utc } from "./inspect-values.ts";
import { valueText } from "./json-pieces.ts";
import { PoolPlaces } from "./pool-places.ts";
import {
  type Conversation,
  memberOf,
  type OpenCall,
  type TrajectoryStep,
  type TrajectorySummary,
  TrajectoryWalk,
} from "./trajectory-walk.ts";

export type InspectLimit = { type: string; message: string; limit?: number };

type Checkpoint = NonNullable<AttemptSource["scores"]>["checkpoints"][number];
type Placed = { index: number; at: Place; conversation: Conversation | undefined };
type Span = { id: string; type: string; parent?: string | undefined };
type Context = { summary: TrajectorySummary; texts: InspectTexts; limit: InspectLimit | undefined };

export class InspectEvents {
  readonly #source: AttemptSource;
  readonly #context: Context;
  readonly #checkpoints: Checkpoint[];
  readonly #walk = new TrajectoryWalk();
  readonly #places = new WeakMap<OpenCall, Place>();
  /** Ids of the spans of members, by name, and of workers, by conversation. */
  readonly #members = new Map<string | undefined, string>();
  readonly #workers = new Map<string, string>();
  readonly #pool = new PoolPlaces();
  readonly #research = new ResearchReader();
  #waitedMs = 0;
  #iterations = 0;
  #iterationSpan: string | undefined;
  #time: string;
  #sinceStartMs = 0;

  constructor(source: AttemptSource, context: Context) {
    this.#source = source;
    this.#context = context;
    this.#checkpoints = [...(source.scores?.checkpoints ?? [])];
    this.#time = utc(context.summary.startedAt ?? source.startedAt);
  }

  *all(): Generator<object> {
    for (const step of this.#walk.steps(this.#source.lines())) yield* this.#step(step);
    for (const call of this.#walk.openCalls()) yield this.#tool(call);
    yield this.#info(this.#place("research"), { event: "research", ...this.#research.end() });
    for (const id of [...this.#workers.values(), ...this.#members.values()]) yield this.#spanEnd(id);
    if (this.#iterationSpan !== undefined) yield this.#spanEnd(this.#iterationSpan);
    for (const checkpoint of this.#checkpoints) yield* this.#checkpointScores(checkpoint);
    for (const score of this.#source.scores?.final ?? [])
      yield scoreEvent(score, this.#place(`score-${score.name}`));
  }

  *#step({ line, call, conversation, abandoned = [] }: TrajectoryStep): Generator<object> {
    if (line.kind === "broken") {
      const message = `the trajectory is damaged: ${line.why}`;
      const error = { message, traceback: "", traceback_ansi: "" };
      yield { event: "error", ...this.#place("broken"), error };
      return;
    }
    if (line.time !== null) this.#time = utc(line.time);
    this.#sinceStartMs = line.sinceStartMs ?? this.#sinceStartMs;
    const workedMs = this.#sinceStartMs - this.#waitedMs;
    while ((this.#checkpoints[0]?.atMs ?? Infinity) <= workedMs)
      yield* this.#checkpointScores(this.#checkpoints.shift()!);
    const member = memberOf(line);
    if (member !== undefined && !this.#members.has(member)) {
      const id = `member-${this.#members.size + 1}`;
      yield this.#spanBegin(member, { id, type: "agent" });
      this.#members.set(member, id);
    }
    if (member === undefined) yield* this.#iterationBegins(line);
    if (line.kind === "other") {
      yield this.#info(this.#place(line.index, member), { ...line.fields, event: line.name, unknown: true });
      return;
    }
    const { event, index } = line;
    this.#research.see(event, line);
    yield* this.#workerBegins(conversation);
    if (event.event === "wait")
      this.#waitedMs =
        movedMs(this.#context.summary.start.deadline, event) ?? this.#waitedMs + event.frozenMs;
    const at = this.#place(index, member, conversation);
    for (const one of abandoned) yield this.#tool(one);
    if (event.event === "tool-call") this.#places.set(call!, at);
    else if (event.event === "tool-result")
      yield this.#tool(this.#called(event, { index, at, call }), { event, index });
    else yield* this.#event(event, { index, at, conversation });
    if (isSaid(line)) this.#pool.said(conversation!.id);
    if (event.event === "context-cut") this.#pool.cut(conversation!.id, event.messagesKept);
    if (event.event === "iteration" && member === undefined && this.#iterationSpan !== undefined) {
      yield this.#spanEnd(this.#iterationSpan);
      this.#iterationSpan = undefined;
    }
  }

  *#event(event: TrajectoryEvent, { index, at, conversation }: Placed): Generator<object> {
    const { texts, limit } = this.#context;
    switch (event.event) {
      case "model-call":
        yield modelEvent(index, event, {
          ...{ at, role: conversation!.id, pool: this.#pool, texts },
          workedMs: this.#sinceStartMs - this.#waitedMs,
        });
        break;
      case "context-cut": {
        const { messagesCut, charactersCut, messagesKept } = event;
        const metadata = { messagesCut, charactersCut, messagesKept };
        yield { event: "compaction", ...at, type: "trim", role: conversation!.id, source: "mlrb", metadata };
        break;
      }
      case "end":
        if (limit) yield { event: "sample_limit", ...at, uuid: `${index}-limit`, ...limit };
        yield this.#info(at, event);
        break;
      default:
        yield this.#info(at, withReferences(event, texts));
    }
  }

  *#iterationBegins(line: Exclude<TrajectoryLine, { kind: "broken" }>): Generator<object> {
    const name = this.#context.summary.iterations[this.#iterations];
    const isEvent = line.kind === "event" && line.event.event !== "start";
    if (this.#iterationSpan !== undefined || name === undefined || !isEvent) return;
    this.#iterationSpan = `iteration-${++this.#iterations}`;
    yield this.#spanBegin(name, { id: this.#iterationSpan, type: "iteration" });
  }

  *#workerBegins(own: Conversation | undefined): Generator<object> {
    if (!own || this.#workers.has(own.id)) return;
    const main = this.#context.summary.conversations.find(({ member }) => member === own.member);
    if (own.id === main?.id) return;
    const id = `agent-${this.#workers.size + 1}`;
    yield this.#spanBegin(own.by, { id, type: "agent", parent: this.#spanOf(own.member) });
    this.#workers.set(own.id, id);
  }

  #spanOf(member: string | undefined): string | undefined {
    return member === undefined ? this.#iterationSpan : this.#members.get(member);
  }

  /** The call that a result answers; of a result without a started call, one in its place. */
  #called(
    { member, by, id, name }: ToolResultEvent,
    { index, at, call }: { index: number; at: Place; call: OpenCall | undefined },
  ): OpenCall {
    if (call?.started) return call;
    const made = { member, by, id, name, input: "{}", index, started: true };
    this.#places.set(made, at);
    return made;
  }

  #tool(call: OpenCall, result?: { event: ToolResultEvent; index: number }): object {
    const answered = result && { ...result, at: this.#time };
    return toolEvent(call, { place: this.#places.get(call)!, result: answered, texts: this.#context.texts });
  }

  *#checkpointScores({ checkpoint, scores }: Checkpoint): Generator<object> {
    for (const score of scores)
      yield scoreEvent(score, this.#place(`score-${checkpoint}-${score.name}`), { checkpoint });
  }

  #place(name: string | number, member?: string, own?: Conversation): Place {
    const span = (own && this.#workers.get(own.id)) ?? this.#spanOf(member);
    return {
      uuid: `${name}`,
      ...(span !== undefined && { span_id: span }),
      timestamp: this.#time,
      working_start: seconds(Math.max(0, this.#sinceStartMs - this.#waitedMs)),
    };
  }

  #info(at: Place, data: unknown): object {
    return { event: "info", ...at, source: "mlrb", data };
  }

  #spanBegin(name: string, { id, type, parent }: Span): object {
    const { span_id: _, ...at } = this.#place(`${id}-begin`);
    const under = parent === undefined ? {} : { parent_id: parent };
    return { event: "span_begin", ...at, span_id: id, id, type, name, ...under };
  }

  #spanEnd(id: string): object {
    return { event: "span_end", ...this.#place(`${id}-end`), span_id: id, id };
  }
}

/** `more` is for scores of an intermediate checkpoint. */
function scoreEvent(score: NamedScore, at: Place, more?: { checkpoint: string }): object {
  if (score.kind === "not-measured") {
    const data = { event: "not-measured", ...more, scorer: score.name, cause: score.cause };
    return { event: "info", ...at, source: "mlrb", data };
  }
  const { metadata, ...said } = scoreOf(score);
  return {
    event: "score",
    ...at,
    scorer: score.name,
    score: { ...said, metadata: { ...metadata, ...more } },
    intermediate: more !== undefined,
  };
}

/** A rejected submission has no number, here as in the tables, which score it at the trivial baseline. */
export function scoreOf(score: Exclude<NamedScore, { kind: "not-measured" }>) {
  const { unit, direction, baseline } = score;
  const metadata = { unit, direction, baseline };
  if (score.kind === "rejected")
    return { value: "rejected", explanation: score.reason, history: [], metadata };
  const { value, standardError, items } = score;
  return { value, history: [], metadata: { ...metadata, standardError, items } };
}

/** By how much the deadline has moved after a wait. A sum of waits would count overlaps twice. */
function movedMs(first: unknown, { deadline }: { deadline: string }): number | undefined {
  const moved = Date.parse(deadline) - Date.parse(valueText(first));
  return Number.isNaN(moved) ? undefined : moved;
}

/** The event with references in place of long texts. */
function withReferences(event: TrajectoryEvent, texts: InspectTexts): Record<string, unknown> {
  if (!("text" in event)) return event;
  if (event.event === "request-part" && event.again) return { ...event, text: "" }; // as in the part of this digest
  return { ...event, text: texts.reference(event.text as LongText) };
}
