// The loop of all scaffolds: ask the model and run its tool calls, until it submits, returns a result or stops.
// A scaffold chooses the prompts and the tools.
import type { MessageEvent } from "@mlrb/formats/attempt/trajectory";
import { turnsMaxDefault } from "@mlrb/formats/declared/agent-preset";
import type { ModelResponse, ToolCall } from "../model/model-client.ts";
import { uniqueIds } from "../model/tool-input.ts";
import {
  type Conversation,
  cutToFit,
  type Entry,
  entry,
  requestCharacters,
  requestMessages,
} from "./context.ts";
import { type FittedRequest, windowedAsker } from "./fitting-asker.ts";
import { notes } from "./notes.ts";
import { nudges } from "./prompts.ts";
import type { ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";
import { Standstill } from "./standstill.ts";
import { patience, type Tool, type ToolWorld } from "./tool.ts";

/** What all conversations of an attempt share. */
export type Shared = {
  request: ScaffoldRequest;
  world: Omit<ToolWorld, "by">;
  /** Model calls so far. */
  turns: { count: number };
  /** All reminders so far; `look` adds the due ones. */
  notices: { all: string[]; look(): void };
};

export type Talk = {
  by: string;
  system: string;
  task: string;
  tools: Tool[];
  /** Model calls of this conversation. */
  turnsMax?: number;
};

export type TalkEnd =
  | ScaffoldEnd
  | { kind: "returned"; summary: string }
  /** The conversation's own model calls are used up. */
  | { kind: "turns"; lastWords: string };

export async function converse(shared: Shared, talk: Talk): Promise<TalkEnd> {
  return await new Loop(shared, talk).run();
}

/** A conversation that nobody gave its work: it has no tool that returns, and no calls of its own. */
export async function converseAlone(shared: Shared, talk: Talk): Promise<ScaffoldEnd> {
  const end = await converse(shared, talk);
  if (end.kind === "returned" || end.kind === "turns")
    throw new Error(`bug: the conversation of ${talk.by} ended as ${end.kind}`);
  return end;
}

class Loop {
  readonly #shared: Shared;
  readonly #talk: Talk;
  readonly #world: ToolWorld;
  readonly #ask: ReturnType<typeof windowedAsker>;
  #conversation: Conversation;
  /** A conversation that begins late has the earlier notices in its task. */
  #noticesSeen: number;
  readonly #standstill = new Standstill();
  #lastWords = "";

  constructor(shared: Shared, talk: Talk) {
    const { by, system, task, tools } = talk;
    this.#shared = shared;
    this.#talk = talk;
    this.#world = { ...shared.world, by };
    this.#ask = windowedAsker(shared.request, by, tools);
    this.#noticesSeen = shared.notices.all.length;
    const pinned = [
      { role: "system" as const, text: system },
      { role: "user" as const, text: task },
    ];
    this.#conversation = { pinned, entries: [], dropped: 0 };
  }

  async run(): Promise<TalkEnd> {
    const { request, turns } = this.#shared;
    const { system, task, turnsMax = Number.POSITIVE_INFINITY } = this.#talk;
    this.#record("system", "prompt", system);
    this.#record("user", "task", task);
    for (let turn = 0; turn < turnsMax; turn++) {
      request.signal.throwIfAborted();
      const over = overTurns(this.#shared);
      if (over) return over;
      this.#sayNotices();
      if (turnsMax - turn === nudges.fewLeft) this.#say("nudge", nudges.turnsLeft);
      const response = await this.#ask((...room) => this.#request(...room));
      if (!response) return overBudget(request);
      turns.count++;
      const end = await this.#take(response);
      if (end) return end;
    }
    return { kind: "turns", lastWords: this.#lastWords };
  }

  /** Throws if the parts that may not be cut exceed the context window. */
  #request(charactersMax: number, toolsCharacters: number): FittedRequest {
    const notes = this.#world.notes.text();
    const { conversation, cut } = cutToFit(this.#conversation, { notes, toolsCharacters, charactersMax });
    this.#conversation = conversation;
    const characters = requestCharacters(conversation, { notes, toolsCharacters });
    return { messages: requestMessages(conversation, notes), characters, cut };
  }

  /** The end that the answer brings; undefined if the loop continues. */
  async #take(response: ModelResponse): Promise<TalkEnd | undefined> {
    if (response.text.trim() !== "") this.#lastWords = response.text;
    if (response.finish === "refusal") {
      this.#add(answer(response, []));
      const refused = this.#standstill.refused(response);
      if (!refused) this.#say("nudge", nudges.refusal);
      return refused;
    }
    const calls = usableCalls(response.toolCalls);
    this.#add(answer(response, calls));
    const end = calls.length === 0 ? this.#standstill.silent(response.text) : await this.#call(calls);
    if (end) return end;
    if (response.finish === "length") this.#say("nudge", nudges.length);
    else if (calls.length === 0) this.#say("nudge", nudges.noTool);
    return undefined;
  }

  async #call(calls: ToolCall[]): Promise<TalkEnd | undefined> {
    const { tools } = this.#talk;
    const { results, end } = await this.#standstill.call(calls, { tools, world: this.#world });
    this.#add(...results);
    return end;
  }

  #sayNotices(): void {
    const { notices } = this.#shared;
    notices.look();
    for (const text of notices.all.slice(this.#noticesSeen)) this.#say("notice", text);
    this.#noticesSeen = notices.all.length;
  }

  #say(why: "notice" | "nudge", text: string): void {
    this.#record("user", why, text);
    this.#add(entry({ role: "user", text }, { notice: why === "notice" }));
  }

  #record(role: "system" | "user", why: MessageEvent["why"], text: string): void {
    this.#shared.request.write({ event: "message", by: this.#talk.by, role, why, text });
  }

  #add(...entries: Entry[]): void {
    this.#conversation = {
      ...this.#conversation,
      entries: [...this.#conversation.entries, ...entries],
    };
  }
}

function answer({ text, raw, toolCalls, finish }: ModelResponse, calls: ToolCall[]): Entry {
  // providers refuse an empty answer
  const spoken = text === "" && calls.length === 0 ? "(nothing)" : text;
  // raw parts belong to the unchanged answer; a refusal keeps its text only
  const asItWas =
    finish !== "refusal" && spoken === text && calls.every((call, at) => call === toolCalls[at]);
  return entry({
    ...{ role: "assistant", text: spoken, toolCalls: calls },
    ...(raw !== undefined && asItWas && { raw }),
  });
}

/** Calls that providers take back: with unique ids, and with names that a tool could have. */
function usableCalls(calls: ToolCall[]): ToolCall[] {
  const ids = uniqueIds(calls.map((call) => usable(call.id)));
  return calls.map((call, index) => {
    const [id, name] = [ids[index]!, usable(call.name) || "unnamed"];
    return id === call.id && name === call.name ? call : { ...call, id, name };
  });
}

const usable = (text: string) => text.slice(0, 64).replace(/[^A-Za-z0-9_-]/g, "_");

export function overBudget({ meter }: ScaffoldRequest): ScaffoldEnd {
  const over = meter.over();
  if (!over) throw new Error("bug: a model was not asked for want of budget, and the budget is not used up");
  return { kind: "over-budget", ...over };
}

/** The end that the limit of model calls brings. */
export function overTurns({ request, turns }: Shared): ScaffoldEnd | undefined {
  const { turnsMax = turnsMaxDefault } = request.spec;
  if (turns.count < turnsMax) return undefined;
  return { kind: "over-budget", limit: "turns", detail: `${turnsMax} model calls are used up` };
}

/** The state that the conversations of one attempt share. */
export function sharedOf(request: ScaffoldRequest): Shared {
  const { sandbox, cwd, env, meter, scratch, signal, write, tape, replay, board } = request;
  const all: string[] = [];
  return {
    request,
    world: {
      ...{ sandbox, cwd, env, meter, scratch, signal, write, tape, replay, board, patience },
      notes: notes(),
      files: { count: 0 },
      warned: { emptySubmission: false },
    },
    turns: { count: 0 },
    notices: { all, look: () => void all.push(...request.noticesDue()) },
  };
}
