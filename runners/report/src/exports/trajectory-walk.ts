// One pass over a trajectory, shared by the story and by both exports. It pairs tool calls with their results and
// sums up what an export needs before its first byte: who talked, at what cost, and how the trajectory ended.
// Memory does not grow with the trajectory. Pure.
import type { LongText, ModelCallEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { TrajectoryLine } from "./attempt-source.ts";
import { objectIn } from "./json-pieces.ts";

export type Usage = ReturnType<typeof usageOf>;

/** A tool call without a result so far; `started` once its tool ran. */
export type OpenCall = {
  member: string | undefined;
  by: string;
  id: string;
  name: string;
  input: LongText;
  index: number;
  started: boolean;
};

export type Conversation = {
  by: string;
  /** Of a team; undefined for other agents. */
  member: string | undefined;
  /** Unique in the attempt: `by`, or MEMBER/by. */
  id: string;
  model: string | null;
  usage: Usage;
  /** Line of its first event, and the call of another conversation that was open then, which began it. */
  from: number;
  begunBy: OpenCall | null;
};

/** A member of a team. `id`: unique, also among conversations. `from`: line of its first event. */
export type Member = { name: string; id: string; from: number; agent: string; kind: string };

export type TrajectorySummary = TrajectoryWalk["summary"];

export type TrajectoryStep = {
  line: TrajectoryLine;
  /** The conversation that the event belongs to. */
  conversation?: Conversation | undefined;
  /** The call that a tool-call starts or that a tool-result answers. */
  call?: OpenCall | undefined;
  /** Started calls that get no result any more: too many were open, or another call had the same id. */
  abandoned?: OpenCall[];
};

const nameMax = 100;
const openMax = 1000;

export class TrajectoryWalk {
  /** Of the lines read so far. */
  readonly summary = {
    /** The fields of the start event; empty where there is none. */
    start: {} as Record<string, unknown>,
    /** The fields of the end event; null where the trajectory has no end. */
    end: null as Record<string, unknown> | null,
    /** Why the rest cannot be read; null where all can. */
    broken: null as string | null,
    startedAt: null as string | null,
    lastAt: null as string | null,
    lastSinceStartMs: 0,
    /** The first prompt by a user: what the agent was asked. */
    prompt: null as LongText | null,
    conversations: [] as Conversation[],
    /** In the order of their first events; empty unless it is a team's. */
    members: [] as Member[],
    byModel: new Map<string, Usage>(),
    /** Names of the iterations that the agent reported, or the team as a whole, in their order. */
    iterations: [] as string[],
  };
  readonly #open = new Map<string, OpenCall>();
  readonly #ids = new Set<string>();

  *steps(lines: Iterable<TrajectoryLine>): Generator<TrajectoryStep> {
    const { summary } = this;
    for (const line of lines) {
      if (line.kind === "broken") summary.broken = line.why;
      else {
        summary.startedAt ??= line.time;
        summary.lastAt = line.time ?? summary.lastAt;
        summary.lastSinceStartMs = line.sinceStartMs ?? summary.lastSinceStartMs;
      }
      this.#member(line);
      if (line.kind === "event") {
        const conversation = this.#sumUp(line.event, line.index);
        yield { line, conversation, ...this.#pair(line.event, line.index) };
      } else yield { line };
    }
  }

  /** Started calls without a result, oldest first. */
  openCalls(): OpenCall[] {
    return [...this.#open.values()].filter(({ started }) => started);
  }

  #sumUp(event: TrajectoryEvent, index: number): Conversation | undefined {
    const { summary } = this;
    const own = "by" in event && typeof event.by === "string" ? this.#conversation(event, index) : undefined;
    switch (event.event) {
      case "start":
      case "end": {
        const { event: name, ...facts } = event;
        summary[name] = facts;
        break;
      }
      case "message":
        if (event.why === "prompt" && event.role === "user") summary.prompt ??= event.text;
        break;
      case "model-call": {
        const model = `${event.provider}/${event.model}`;
        own!.model ??= model;
        const ofModel = summary.byModel.getOrInsertComputed(model, nothing);
        for (const sum of [own!.usage, ofModel]) addUsage(sum, usageOf(event, 1));
        break;
      }
      case "model-try": {
        // a failed try with usage was paid for all the same
        if (event.usage === null) break;
        const ofModel = summary.byModel.get(own!.model ?? "");
        for (const sum of ofModel ? [own!.usage, ofModel] : [own!.usage]) addUsage(sum, usageOf(event, 0));
        break;
      }
      case "iteration":
        if (event.member === undefined)
          summary.iterations.push(iterationName(event.line, summary.iterations.length + 1));
        break;
      default: // the other events are no part of the summary
    }
    return own;
  }

  #conversation({ by, member }: { by: string; member?: string }, index: number): Conversation {
    const { conversations } = this.summary;
    const found = conversations.find((one) => one.by === by && one.member === member);
    if (found) return found;
    const begunBy = this.openCalls().findLast((call) => call.member === member && call.by !== by) ?? null;
    const id = this.#freshId(member === undefined ? by : `${member}/${by}`);
    const made = { by, member, id, model: null, usage: nothing(), from: index, begunBy };
    conversations.push(made);
    return made;
  }

  #member(line: TrajectoryLine): void {
    const { members } = this.summary;
    const name = memberOf(line);
    if (name === undefined) return;
    let own = members.find((one) => one.name === name);
    if (!own) {
      own = { name, id: this.#freshId(name), from: line.index, agent: "unknown", kind: "unknown" };
      members.push(own);
    }
    if (line.kind === "event" && line.event.event === "member-start")
      Object.assign(own, { agent: line.event.agent, kind: line.event.kind });
  }

  #freshId(wanted: string): string {
    const id = this.#ids.has(wanted) ? this.#freshId(`${wanted}~`) : wanted;
    this.#ids.add(id);
    return id;
  }

  #pair(event: TrajectoryEvent, index: number): Omit<TrajectoryStep, "line"> {
    switch (event.event) {
      case "model-call": {
        const { member, by, toolCalls } = event;
        const asked = toolCalls.filter(({ id }) => !this.#open.has(callKey({ member, by, id })));
        return {
          abandoned: asked.flatMap(({ id, name, input }) =>
            this.#keep({ member, by, id, name, input, index, started: false }),
          ),
        };
      }
      case "tool-call": {
        const { member, by, id, name, input } = event;
        const call: OpenCall = { member, by, id, name, input, index, started: true };
        return { call, abandoned: this.#keep(call) };
      }
      case "tool-result": {
        const key = callKey(event);
        const call = this.#open.get(key);
        this.#open.delete(key);
        return { call };
      }
      default:
        return {};
    }
  }

  /** Returns the started calls that had to go. */
  #keep(call: OpenCall): OpenCall[] {
    const key = callKey(call);
    const before = this.#open.get(key);
    const gone = [before];
    if (!before?.started) this.#open.delete(key); // started calls stay in the order of their starts
    this.#open.set(key, call);
    if (this.#open.size > openMax) {
      const [oldest, one] = this.#open.entries().next().value!;
      this.#open.delete(oldest);
      gone.push(one);
    }
    return gone.filter((one) => one?.started) as OpenCall[];
  }
}

/** The member whose line it is; undefined where none is. */
export function memberOf(line: TrajectoryLine): string | undefined {
  if (line.kind === "broken") return undefined;
  const member = line.kind === "event" ? line.event.member : line.fields.member;
  return typeof member === "string" ? member : undefined;
}

/** Ids are unique within one conversation. */
function callKey({ member, by, id }: { member?: string | undefined; by: string; id: string }): string {
  return [member, by, id].join(" ");
}

/** The summary of a whole trajectory. */
export function trajectorySummary(lines: Iterable<TrajectoryLine>): TrajectorySummary {
  const walk = new TrajectoryWalk();
  for (const _ of walk.steps(lines));
  return walk.summary;
}

function usageOf({ usage, dollars }: Pick<ModelCallEvent, "usage" | "dollars">, calls: number) {
  return {
    calls,
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    cachedInputTokens: usage?.cachedInputTokens ?? 0,
    reasoningTokens: usage?.reasoningTokens ?? 0,
    /** null as soon as one call had no known price. */
    dollars,
    /** Calls whose usage is unknown. */
    uncounted: usage === null ? 1 : 0,
  };
}

function nothing(): Usage {
  return { ...usageOf({ usage: null, dollars: 0 }, 0), uncounted: 0 };
}

export function totalUsage(conversations: Conversation[]): Usage {
  const sum = nothing();
  for (const { usage } of conversations) addUsage(sum, usage);
  return sum;
}

function addUsage(sum: Usage, { dollars, ...counts }: Usage): void {
  sum.dollars = sum.dollars === null || dollars === null ? null : sum.dollars + dollars;
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) sum[name] += counts[name];
}

/** The id in the iteration's own line; else its number. */
function iterationName(line: string, number: number): string {
  const id = objectIn(line)?.id;
  return typeof id === "string" || typeof id === "number" ? `${id}`.slice(0, nameMax) : String(number);
}
