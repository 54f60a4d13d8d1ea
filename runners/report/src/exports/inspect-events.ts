// The events of a trajectory as Inspect's, one after the other. Iterations are spans of type "iteration": one lasts
// from the end of the one before to the line that tells of it, since agents tell of experiments after them. Workers
// are spans of type "agent". What rules find of the research, labelled with its source, is told at the end. Whatever Inspect has no event for is an info event of source "mlrb", whole. Pure.
import { ResearchReader } from "@mlrb/core/iterations/attempt-iterations";
import type { LongText, ToolCallEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource, NamedScore } from "./attempt-source.ts";
import type { FirstLook } from "./first-look.ts";
import { modelEvent, type Place, toolEvent } from "./inspect-calls.ts";
import { isSaid } from "./inspect-messages.ts";
import type { InspectTexts } from "./inspect-texts.ts";
import { seconds, utc } from "./inspect-values.ts";
import { PoolPlaces } from "./pool-places.ts";

export type InspectLimit = { type: string; message: string; limit?: number };

type Context = { look: FirstLook; texts: InspectTexts; limit: InspectLimit | undefined };

/** Calls that wait for their result; of more, the oldest are given without one. */
const openMax = 1000;

export function* inspectEvents(source: AttemptSource, { look, texts, limit }: Context): Generator<object> {
  const moments = [...(source.scores?.moments ?? [])];
  const open = new Map<string, { event: ToolCallEvent; place: Place }>();
  const workers = new Map<string, string>();
  const pool = new PoolPlaces();
  const main = look.conversations[0]?.by;
  const reader = new ResearchReader();
  let waitedMs = 0;
  let iteration = 0;
  let iterationSpan: string | undefined;
  let time = utc(look.startedAt ?? source.startedAt);
  let sinceStartMs = 0;

  const place = (name: string | number, by?: string): Place => {
    const span = (by !== undefined && workers.get(by)) || iterationSpan;
    return {
      uuid: `${name}`,
      ...(span !== undefined && { span_id: span }),
      timestamp: time,
      working_start: seconds(Math.max(0, sinceStartMs - waitedMs)),
    };
  };
  const info = (at: Place, data: unknown) => ({ event: "info", ...at, source: "mlrb", data });
  const span = (name: string, more: { id: string; type: string; parent?: string }) => {
    const { span_id: _, ...at } = place(`${more.id}-begin`);
    const parent = more.parent === undefined ? {} : { parent_id: more.parent };
    return { event: "span_begin", ...at, span_id: more.id, id: more.id, type: more.type, name, ...parent };
  };
  const spanEnd = (id: string) => ({ event: "span_end", ...place(`${id}-end`), span_id: id, id });

  for (const line of source.lines()) {
    if (line.kind === "broken") {
      const message = `the trajectory is damaged: ${line.why}`;
      yield { event: "error", ...place("broken"), error: { message, traceback: "", traceback_ansi: "" } };
      break;
    }
    if (line.time !== null) time = utc(line.time);
    sinceStartMs = line.sinceStartMs ?? sinceStartMs;
    while (moments[0] && moments[0].atMs !== null && moments[0].atMs <= sinceStartMs - waitedMs)
      yield* momentScores(moments.shift()!, place);
    if (
      iterationSpan === undefined &&
      iteration < look.iterations.length &&
      line.kind === "event" &&
      line.event.event !== "start"
    ) {
      iterationSpan = `iteration-${++iteration}`;
      yield span(look.iterations[iteration - 1]!, { id: iterationSpan, type: "iteration" });
    }
    if (line.kind === "other") {
      yield info(place(line.index), { ...line.fields, event: line.name, unknown: true });
      continue;
    }
    const { event, index } = line;
    reader.see(event, line);
    const by = "by" in event && typeof event.by === "string" ? event.by : undefined;
    if (by !== undefined && by !== main && !workers.has(by)) {
      const id = `agent-${workers.size + 1}`;
      yield span(by, { id, type: "agent", ...(iterationSpan !== undefined && { parent: iterationSpan }) });
      workers.set(by, id);
    }
    switch (event.event) {
      case "model-call":
        yield modelEvent(index, event, { at: place(index, by), pool, texts, waitedMs, sinceStartMs });
        break;
      case "tool-call": {
        const key = `${event.by} ${event.id}`;
        const before = open.get(key);
        if (before) yield toolEvent(before, undefined, texts);
        open.set(key, { event, place: place(index, by) });
        if (open.size > openMax) {
          const [oldest, one] = open.entries().next().value!;
          open.delete(oldest);
          yield toolEvent(one, undefined, texts);
        }
        break;
      }
      case "tool-result": {
        const key = `${event.by} ${event.id}`;
        const call = open.get(key) ?? {
          event: { event: "tool-call", by: event.by, id: event.id, name: event.name, input: "{}" },
          place: place(index, by),
        };
        open.delete(key);
        yield toolEvent(call, { event, at: time, index }, texts);
        break;
      }
      case "context-cut": {
        const { messagesCut, charactersCut, messagesKept } = event;
        yield {
          event: "compaction",
          ...place(index, by),
          type: "trim",
          role: event.by,
          source: "mlrb",
          metadata: { messagesCut, charactersCut, messagesKept },
        };
        break;
      }
      case "wait":
        waitedMs = movedMs(look.start.deadline, event) ?? waitedMs + (event.frozenMs ?? event.durationMs);
        yield info(place(index), event);
        break;
      case "end":
        if (limit) yield { event: "sample_limit", ...place(`${index}-limit`), ...limit };
        yield info(place(index), event);
        break;
      default:
        yield info(place(index, by), own(event, texts));
    }
    if (isSaid(line)) pool.said(line.event.by);
    if (event.event === "context-cut") pool.cut(event.by, event.messagesKept);
    if (event.event === "iteration" && iterationSpan !== undefined) {
      yield spanEnd(iterationSpan);
      iterationSpan = undefined;
    }
  }
  for (const call of open.values()) yield toolEvent(call, undefined, texts);
  const research = reader.end();
  yield info(place("research"), { event: "research", ...research });
  for (const id of workers.values()) yield spanEnd(id);
  if (iterationSpan !== undefined) yield spanEnd(iterationSpan);
  for (const moment of moments) yield* momentScores(moment, place);
  for (const score of source.scores?.final ?? [])
    if (score.kind === "not-measured")
      yield info(place(`score-${score.name}`), {
        event: "not-measured",
        scorer: score.name,
        cause: score.cause,
      });
    else
      yield {
        event: "score",
        ...place(`score-${score.name}`),
        scorer: score.name,
        score: scoreOf(score),
        intermediate: false,
      };
}

type Scored = { moment: string; scores: NamedScore[] };

function* momentScores({ moment, scores }: Scored, place: (name: string) => Place): Generator<object> {
  for (const score of scores) {
    const at = place(`score-${moment}-${score.name}`);
    if (score.kind === "not-measured")
      yield {
        event: "info",
        ...at,
        source: "mlrb",
        data: { event: "not-measured", moment, scorer: score.name, cause: score.cause },
      };
    else {
      const { metadata, ...said } = scoreOf(score);
      yield {
        event: "score",
        ...at,
        scorer: score.name,
        score: { ...said, metadata: { ...metadata, moment } },
        intermediate: true,
      };
    }
  }
}

/** A rejected submission has no number: it counts as the floor in our tables, and says so here. */
export function scoreOf(score: Exclude<NamedScore, { kind: "not-measured" }>) {
  const { unit, direction, floor } = score;
  const metadata = { unit, direction, floor };
  if (score.kind === "rejected")
    return { value: "rejected", explanation: score.reason, history: [], metadata };
  const { value, standardError, items } = score;
  return { value, history: [], metadata: { ...metadata, standardError, items } };
}

/** What the deadline had moved by after a wait. Sums of waits would count twice what overlaps. */
function movedMs(first: unknown, { deadline }: { deadline: string }): number | undefined {
  const moved = Date.parse(deadline) - Date.parse(String(first));
  return Number.isNaN(moved) ? undefined : moved;
}

/** An event as it is, with references in place of long texts. */
function own(event: TrajectoryEvent, texts: InspectTexts): Record<string, unknown> {
  if (!("text" in event)) return event;
  if (event.event === "request-part" && event.again) return { ...event, text: "" }; // as in the part of this digest
  return { ...event, text: texts.reference(event.text as LongText) };
}
