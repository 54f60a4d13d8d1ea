// The loop that all scaffolds share: ask the model, do what it calls, until it hands in, gives back a result, or
// will not go on. Whose loop it is, what it is told and with which tools is the scaffold's.
import type { MessageEvent } from "@mlrb/core/trajectory-event";
import type { ModelResponse, ToolCall } from "../model/model-client.ts";
import { callTools } from "./call-tools.ts";
import {
  beginConversation,
  type Conversation,
  correctedWindow,
  cutToFit,
  entry,
  narrowedWindow,
  requestCharacters,
  requestMessages,
  windowCharacters,
  windowOf,
} from "./context.ts";
import { nudges } from "./prompts.ts";
import type { ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";
import { specsOf } from "./toolbox.ts";
import type { Tool, ToolWorld } from "./tools.ts";

/** What all conversations of an attempt share. */
export type Shared = {
  request: ScaffoldRequest;
  world: Omit<ToolWorld, "by">;
  /** Model calls so far. */
  turns: { count: number };
  /** All reminders so far; looks for new ones. */
  notices(): string[];
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
  /** Its own model calls are used up. */
  | { kind: "turns"; lastWords: string };

const nudgesMax = 3;
const senselessMax = 10;
const tooLongMax = 8;

export async function converse(shared: Shared, talk: Talk): Promise<TalkEnd> {
  const { request } = shared;
  const { by, tools, system, task, turnsMax = Number.POSITIVE_INFINITY } = talk;
  const specs = specsOf(tools);
  const world: ToolWorld = { ...shared.world, by };
  let conversation = beginConversation([
    { role: "system", text: system },
    { role: "user", text: task },
  ]);
  let window = windowOf(request.model);
  // a conversation that begins late knows of what was told before by its task
  let noticesTold = shared.notices().length;
  let [silent, refusals, senseless, tooLong] = [0, 0, 0, 0];
  let lastWords = "";

  const record = (role: "system" | "user", why: MessageEvent["why"], text: string) =>
    request.write({ event: "message", by, role, why, text });
  const say = (why: "notice" | "nudge", text: string) => {
    record("user", why, text);
    conversation = {
      ...conversation,
      entries: [...conversation.entries, entry({ role: "user", text }, { notice: why === "notice" })],
    };
  };
  record("system", "prompt", system);
  record("user", "task", task);

  for (let turn = 0; turn < turnsMax; ) {
    request.signal.throwIfAborted();
    const turnsInAll = request.spec.turnsMax ?? Number.POSITIVE_INFINITY;
    if (shared.turns.count >= turnsInAll)
      return { kind: "over-budget", limit: "turns", detail: `${turnsInAll} model calls are used up` };
    for (const text of shared.notices().slice(noticesTold)) say("notice", text);
    noticesTold = shared.notices().length;
    if (turnsMax - turn === nudges.fewLeft) say("nudge", nudges.turnsLeft);

    const notes = world.notes.text();
    const fitted = cutToFit(conversation, { notes, tools: specs, charactersMax: windowCharacters(window) });
    conversation = fitted.conversation;
    if (fitted.cut) request.write({ event: "context-cut", by, ...fitted.cut });
    const asked = await request.ask(by, requestMessages(conversation, notes), specs);
    request.signal.throwIfAborted();
    const characters = requestCharacters(conversation, notes, specs);
    if (asked.kind === "over") return overBudget(request);
    if (asked.kind === "too-long") {
      if (++tooLong > tooLongMax)
        throw new Error(
          `the model takes no request of ${characters} characters, and less than system prompt, task and notes cannot be sent; ` +
            "set contextTokens in the preset to what the model takes, or take one that reads more",
        );
      window = narrowedWindow(window, characters);
      continue;
    }
    tooLong = 0;
    turn++;
    shared.turns.count++;
    const { response } = asked;
    if (response.usage) window = correctedWindow(window, characters, response.usage.inputTokens);
    if (response.text.trim() !== "") lastWords = response.text;

    if (response.finish === "refusal") {
      conversation = answered(conversation, { ...response, toolCalls: [] });
      if (++refusals > 1) return { kind: "refused", detail: response.text.slice(0, 2_000) };
      say("nudge", nudges.refusal);
      continue;
    }
    refusals = 0;
    const calls = withOwnIds(response.toolCalls);
    conversation = answered(conversation, { ...response, toolCalls: calls });
    if (calls.length === 0) {
      if (++silent >= nudgesMax)
        return {
          kind: "stopped",
          detail: `${silent} answers in a row called no tool; the last: ${clip(response.text)}`,
        };
      say("nudge", response.finish === "length" ? nudges.length : nudges.noTool);
      continue;
    }
    silent = 0;
    const called = await callTools(calls, { tools, world, senseless });
    if (called.ends) return called.ends;
    senseless = called.senseless;
    conversation = {
      ...conversation,
      entries: [
        ...conversation.entries,
        ...called.results.map(({ call: { id, name }, result: { text, outcome, rest } }) =>
          entry(
            { role: "tool", callId: id, name, text, failed: outcome !== "done" },
            rest === undefined ? {} : { rest },
          ),
        ),
      ],
    };
    if (senseless >= senselessMax)
      return { kind: "stopped", detail: `${senseless} tool calls in a row could not be understood` };
  }
  return { kind: "turns", lastWords };
}

function answered(
  conversation: Conversation,
  { text, toolCalls, raw, finish }: Pick<ModelResponse, "text" | "toolCalls" | "raw" | "finish">,
): Conversation {
  // providers take no empty answer back
  const spoken = text === "" && toolCalls.length === 0 ? "(nothing)" : text;
  // what a provider wants back belongs to the whole answer; of a refusal only the words are kept
  const kept = raw !== undefined && finish !== "refusal" && spoken === text ? { raw } : {};
  const message = { role: "assistant" as const, text: spoken, toolCalls, ...kept };
  return { ...conversation, entries: [...conversation.entries, entry(message)] };
}

/** Results find their calls by id: some endpoints give none, or the same to all calls of an answer. */
function withOwnIds(calls: ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = call.id === "" || seen.has(call.id) ? `${call.id || "call"}-${index + 1}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
}

function overBudget({ meter }: ScaffoldRequest): ScaffoldEnd {
  const over = meter.over();
  if (!over) throw new Error("bug: a model was not asked for want of budget, and the budget is not used up");
  return { kind: "over-budget", ...over };
}

const clip = (text: string) => JSON.stringify(text.slice(0, 500));
