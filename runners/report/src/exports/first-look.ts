// The first of several readings of a trajectory: what an export has to know before its first byte, such as who
// talked and how much it took. Holds a few numbers a conversation, whatever the trajectory's length. Pure.
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import type { TrajectoryLine } from "./attempt-source.ts";

export type Usage = {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  /** null as soon as one call had no known price. */
  dollars: number | null;
  /** Calls whose usage nobody said. */
  uncounted: number;
};

export type Conversation = {
  by: string;
  model: string | null;
  usage: Usage;
  /** Line that it begins at, and the call of another conversation that was open then: what it was begun by. */
  from: number;
  begunBy: { by: string; id: string; index: number } | null;
};

export type FirstLook = {
  /** The fields of the start event; empty where there is none. */
  start: Record<string, unknown>;
  /** The fields of the end event; null where the trajectory has no end. */
  end: Record<string, unknown> | null;
  /** Events that can be read. */
  lines: number;
  /** Why it ends before its end, where it does. */
  broken: string | null;
  startedAt: string | null;
  lastAt: string | null;
  lastSinceStartMs: number;
  /** The longest that is called an input: what the agent was asked. */
  prompt: LongText | null;
  conversations: Conversation[];
  byModel: Map<string, Usage>;
  /** Names of the iterations that it told, in their order. */
  iterations: string[];
};

const nameMax = 100;
const openMax = 1000;

export function firstLook(lines: Iterable<TrajectoryLine>): FirstLook {
  const look: FirstLook = {
    start: {},
    end: null,
    lines: 0,
    broken: null,
    startedAt: null,
    lastAt: null,
    lastSinceStartMs: 0,
    prompt: null,
    conversations: [],
    byModel: new Map(),
    iterations: [],
  };
  const open = new Map<string, { by: string; id: string; index: number }>();
  const conversation = (by: string, index: number) => {
    const found = look.conversations.find((one) => one.by === by);
    if (found) return found;
    const begunBy = [...open.values()].findLast((call) => call.by !== by) ?? null;
    const made = { by, model: null, usage: nothing(), from: index, begunBy };
    look.conversations.push(made);
    return made;
  };
  for (const line of lines) {
    if (line.kind === "broken") {
      look.broken = line.why;
      break;
    }
    look.lines++;
    look.startedAt ??= line.time;
    look.lastAt = line.time ?? look.lastAt;
    look.lastSinceStartMs = line.sinceStartMs ?? look.lastSinceStartMs;
    if (line.kind === "other") continue;
    const { event, index } = line;
    if ("by" in event && typeof event.by === "string") conversation(event.by, index);
    switch (event.event) {
      case "start": {
        const { event: _, ...facts } = event;
        look.start = facts;
        break;
      }
      case "end": {
        const { event: _, ...facts } = event;
        look.end = facts;
        break;
      }
      case "message":
        if (event.why === "prompt" && event.role === "user") look.prompt ??= event.text;
        break;
      case "model-call": {
        const own = conversation(event.by, index);
        const model = `${event.provider}/${event.model}`;
        own.model ??= model;
        if (!look.byModel.has(model)) look.byModel.set(model, nothing());
        for (const sum of [own.usage, look.byModel.get(model)!]) add(sum, { ...event, calls: 1 });
        break;
      }
      case "model-try": {
        // what a failed try cost was spent all the same
        const own = conversation(event.by, index);
        if (event.usage === null) break;
        const model = look.byModel.get(own.model ?? "");
        for (const sum of model ? [own.usage, model] : [own.usage]) add(sum, { ...event, calls: 0 });
        break;
      }
      case "tool-call":
        if (open.size < openMax) open.set(`${event.by} ${event.id}`, { by: event.by, id: event.id, index });
        break;
      case "tool-result":
        open.delete(`${event.by} ${event.id}`);
        break;
      case "iteration":
        look.iterations.push(iterationName(event.line, look.iterations.length + 1));
        break;
      default: // needed by the events of the export only
        break;
    }
  }
  return look;
}

function nothing(): Usage {
  return {
    calls: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    dollars: 0,
    uncounted: 0,
  };
}

type Spent = {
  calls: number;
  usage: {
    inputTokens: number;
    outputTokens: number;
    cachedInputTokens: number | null;
    reasoningTokens: number | null;
  } | null;
  dollars: number | null;
};

function add(sum: Usage, { calls, usage, dollars }: Spent): void {
  sum.calls += calls;
  sum.dollars = sum.dollars === null || dollars === null ? null : sum.dollars + dollars;
  if (usage === null) {
    sum.uncounted++;
    return;
  }
  sum.inputTokens += usage.inputTokens;
  sum.outputTokens += usage.outputTokens;
  sum.cachedInputTokens += usage.cachedInputTokens ?? 0;
  sum.reasoningTokens += usage.reasoningTokens ?? 0;
}

/** What an iteration is called in its own line; else its number. */
function iterationName(line: string, number: number): string {
  try {
    const { id } = Object(JSON.parse(line)) as { id?: unknown };
    if (typeof id === "string" || typeof id === "number") return `${id}`.slice(0, nameMax);
  } catch {
    // its number is name enough
  }
  return String(number);
}
