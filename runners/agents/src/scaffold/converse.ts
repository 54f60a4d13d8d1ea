// The loop that all scaffolds share: ask the model, do what it calls, until it hands in, gives back a result, or
// will not go on. Whose loop it is, what it is told and with which tools is the scaffold's.
import type { MessageEvent } from "@mlrb/formats/attempt/trajectory";
import type { ModelResponse, ToolCall } from "../model/model-client.ts";
import { callTools } from "./call-tools.ts";
import { beginConversation, type Entry, entry } from "./context.ts";
import { fittingAsker } from "./fitting-asker.ts";
import { nudges } from "./prompts.ts";
import type { ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";
import type { Tool, ToolWorld } from "./tool.ts";

/** What all conversations of an attempt share. */
export type Shared = {
  request: ScaffoldRequest;
  world: Omit<ToolWorld, "by">;
  /** Model calls so far. */
  turns: { count: number };
  /** All reminders so far; `look` adds what is due. */
  notices: { told: string[]; look(): void };
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

/** A day of work takes hundreds; a model that answers at once and never ends would fill the trajectory. */
export const turnsMaxDefault = 5_000;
const silentMax = 3;
const senselessMax = 10;

export async function converse(shared: Shared, talk: Talk): Promise<TalkEnd> {
  const { request, turns, notices } = shared;
  const { by, tools, system, task, turnsMax = Number.POSITIVE_INFINITY } = talk;
  const world: ToolWorld = { ...shared.world, by };
  const ask = fittingAsker(request, by, tools);
  const turnsInAll = request.spec.turnsMax ?? turnsMaxDefault;
  let conversation = beginConversation([
    { role: "system", text: system },
    { role: "user", text: task },
  ]);
  // a conversation that begins late knows by its task what was told before
  let noticesTold = notices.told.length;
  let [silent, refusals, senseless] = [0, 0, 0];
  /** Since its last tool call, whether it has said a word. */
  let spoke = false;
  let lastWords = "";

  const record = (role: "system" | "user", why: MessageEvent["why"], text: string) =>
    request.write({ event: "message", by, role, why, text });
  const add = (...entries: Entry[]) => {
    conversation = { ...conversation, entries: [...conversation.entries, ...entries] };
  };
  const say = (why: "notice" | "nudge", text: string) => {
    record("user", why, text);
    add(entry({ role: "user", text }, { notice: why === "notice" }));
  };

  /** What the answer comes to; undefined: it goes on. */
  const take = async (response: ModelResponse): Promise<TalkEnd | undefined> => {
    if (response.text.trim() !== "") lastWords = response.text;
    if (response.finish === "refusal") {
      add(answer(response, []));
      if (++refusals > 1) return { kind: "refused", detail: response.text.slice(0, 2_000) };
      say("nudge", nudges.refusal);
      return undefined;
    }
    refusals = 0;
    const calls = usableCalls(response.toolCalls);
    add(answer(response, calls));
    spoke = calls.length === 0 && (spoke || response.text.trim() !== "");
    if (calls.length === 0 && ++silent >= silentMax)
      return {
        kind: spoke ? "stopped" : "silent",
        detail: `${silent} answers in a row called no tool; the last: ${clip(response.text)}`,
      };
    if (calls.length > 0) {
      silent = 0;
      const called = await callTools(calls, { tools, world, senseless });
      if (called.ends) return called.ends;
      add(...called.results);
      senseless = called.senseless;
      if (senseless >= senselessMax)
        return { kind: "stopped", detail: `${senseless} tool calls in a row could not be understood` };
    }
    if (response.finish === "length") say("nudge", nudges.length);
    else if (calls.length === 0) say("nudge", nudges.noTool);
    return undefined;
  };

  record("system", "prompt", system);
  record("user", "task", task);
  for (let turn = 0; turn < turnsMax; turn++) {
    request.signal.throwIfAborted();
    if (turns.count >= turnsInAll)
      return { kind: "over-budget", limit: "turns", detail: `${turnsInAll} model calls are used up` };
    notices.look();
    for (const text of notices.told.slice(noticesTold)) say("notice", text);
    noticesTold = notices.told.length;
    if (turnsMax - turn === nudges.fewLeft) say("nudge", nudges.turnsLeft);
    const asked = await ask(conversation, world.notes.text());
    conversation = asked.conversation;
    if (!asked.response) return overBudget(request);
    turns.count++;
    const end = await take(asked.response);
    if (end) return end;
  }
  return { kind: "turns", lastWords };
}

function answer({ text, raw, toolCalls, finish }: ModelResponse, calls: ToolCall[]): Entry {
  // providers take no empty answer back
  const spoken = text === "" && calls.length === 0 ? "(nothing)" : text;
  // what a provider wants back belongs to the answer as it was, which a refusal's words alone are not
  const asItWas =
    finish !== "refusal" && spoken === text && calls.every((call, at) => call === toolCalls[at]);
  return entry({
    ...{ role: "assistant", text: spoken, toolCalls: calls },
    ...(raw !== undefined && asItWas && { raw }),
  });
}

/**
 * Calls that can be sent back: results find theirs by id, and some endpoints give none, or the same to all calls of
 * an answer; providers refuse names that none of their tools could have.
 */
function usableCalls(calls: ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const [given, name] = [usable(call.id), usable(call.name) || "unnamed"];
    const id = given !== "" && !seen.has(given) ? given : `${given || "call"}-${index + 1}`;
    seen.add(id);
    return id === call.id && name === call.name ? call : { ...call, id, name };
  });
}

const usable = (text: string) => text.slice(0, 64).replace(/[^A-Za-z0-9_-]/g, "_");

function overBudget({ meter }: ScaffoldRequest): ScaffoldEnd {
  const over = meter.over();
  if (!over) throw new Error("bug: a model was not asked for want of budget, and the budget is not used up");
  return { kind: "over-budget", ...over };
}

const clip = (text: string) => JSON.stringify(text.slice(0, 500));
