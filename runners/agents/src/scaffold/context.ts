// Keeps a conversation within its model's context, and says what was cut. First the oldest results of tools go,
// each replaced by a line that names the file with the whole of it, then the oldest turns. System prompt, task and
// notes stay, and a call is never separated from its result, which providers refuse. Cuts far below the limit, not
// a little every turn: an unchanged beginning is cached. Pure.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { Message } from "../model/model-client.ts";

export type Entry = {
  message: Message;
  characters: number;
  /** The file in the workspace that holds the whole of a clipped result. */
  rest?: string;
  /** A reminder of the deadline: the last one survives a cut. */
  notice?: boolean;
};

export type Conversation = {
  /** System prompt and task: never cut. */
  pinned: Message[];
  entries: Entry[];
  /** Messages that were cut, and the last reminder among them. */
  dropped: number;
  lastNotice?: string;
};

export type Cut = { messagesCut: number; charactersCut: number; messagesKept: number };

export function entry(message: Message, more: Pick<Entry, "rest" | "notice"> = {}): Entry {
  return { message, characters: charactersOf(message), ...more };
}

/** The messages that the model gets. */
export function requestMessages(
  { pinned, entries, dropped, lastNotice }: Conversation,
  notes: string,
): Message[] {
  const kept = entries.map(({ message }) => message);
  if (dropped === 0) return [...pinned, ...kept];
  const marker = [
    `[${dropped} earlier messages of this conversation were cut to make room. The files of the workspace are as you left them; long outputs lie whole in outputs/.]`,
    ...(notes === "" ? [] : [`Your notes:\n${notes}`]),
    ...(lastNotice === undefined ? [] : [lastNotice]),
  ].join("\n\n");
  return [...pinned, { role: "user", text: marker }, ...kept];
}

function charactersOf(message: Message): number {
  const overhead = 16;
  if (message.role !== "assistant") return message.text.length + overhead;
  const calls = message.toolCalls.reduce((sum, call) => sum + JSON.stringify(call).length, 0);
  const raw = message.raw === undefined ? 0 : JSON.stringify(message.raw).length;
  return message.text.length + calls + raw + overhead;
}

/** The other parts of a request: the notes, and the characters of the tools' descriptions. */
export type OtherParts = { notes: string; toolsCharacters: number };

export function requestCharacters(
  conversation: Conversation,
  { notes, toolsCharacters }: OtherParts,
): number {
  const messages = requestMessages({ ...conversation, entries: [] }, notes);
  const fixed = messages.reduce((sum, message) => sum + charactersOf(message), 0) + toolsCharacters;
  return conversation.entries.reduce((sum, one) => sum + one.characters, fixed);
}

/** How a provider's tokens are estimated from characters. */
export type Window = { contextTokens: number; answerTokens: number; charactersPerToken: number };

export function windowOf({ contextTokens, maxOutputTokens }: ModelSpec): Window {
  const answerTokens = Math.min(maxOutputTokens ?? 8_192, Math.floor(contextTokens / 2));
  return { contextTokens, answerTokens, charactersPerToken: 3.5 };
}

/** Characters that a request may have. */
export function windowCharacters({ contextTokens, answerTokens, charactersPerToken }: Window): number {
  return Math.floor((contextTokens - answerTokens) * charactersPerToken * 0.95);
}

/** After the provider counted a request. An implausible count is limited. */
export function correctedWindow(window: Window, characters: number, inputTokens: number): Window {
  if (!(inputTokens > 0)) return window;
  const seen = Math.min(6, Math.max(1, characters / inputTokens));
  return { ...window, charactersPerToken: (window.charactersPerToken + seen) / 2 };
}

/** After the provider refused a request of so many characters as too long. */
export function narrowedWindow(window: Window, characters: number): Window {
  const shorter = Math.min(windowCharacters(window), characters) * 0.7;
  const { answerTokens, charactersPerToken } = window;
  return { ...window, contextTokens: Math.floor(shorter / 0.95 / charactersPerToken) + answerTokens };
}

const targetShare = 0.6;
const turnsKeptWhole = 2;
const shortResult = 400;

/** `charactersMax`: of the whole request, including the tools' descriptions. */
export function cutToFit(
  conversation: Conversation,
  { charactersMax, ...otherParts }: OtherParts & { charactersMax: number },
): { conversation: Conversation; cut?: Cut } {
  const total = (now: Conversation) => requestCharacters(now, otherParts);
  const before = total(conversation);
  if (before <= charactersMax) return { conversation };
  const target = charactersMax * targetShare;

  let now = conversation;
  let shortened = 0;
  const shorten = (from: number, to: number, until: number) => {
    let over = total(now) - until;
    const entries = now.entries.map((one, index) => {
      if (over <= 0 || index < from || index >= to) return one;
      const short = shortenedResult(one);
      if (short !== one) shortened++;
      over -= one.characters - short.characters;
      return short;
    });
    now = { ...now, entries };
  };
  const drop = (to: number) => {
    const gone = now.entries.slice(0, to);
    const notice = gone.findLast((one) => one.notice)?.message.text ?? now.lastNotice;
    now = {
      ...now,
      entries: now.entries.slice(to),
      dropped: now.dropped + gone.length,
      ...(notice !== undefined && { lastNotice: notice }),
    };
  };

  shorten(0, turnStarts(now).at(-turnsKeptWhole) ?? 0, target);
  for (let starts = turnStarts(now); starts.length > 1 && total(now) > target; starts = turnStarts(now))
    drop(starts[0] === 0 ? starts[1]! : starts[0]!);
  if (total(now) > charactersMax) shorten(0, now.entries.length, target);
  if (total(now) > charactersMax) drop(now.entries.length);
  const cut = {
    messagesCut: shortened + now.dropped - conversation.dropped,
    charactersCut: before - total(now),
    messagesKept: requestMessages(now, otherParts.notes).length,
  };
  return cut.messagesCut === 0 ? { conversation } : { conversation: now, cut };
}

/** Indexes of the model's answers: a turn is an answer and what follows it. */
function turnStarts({ entries }: Conversation): number[] {
  return entries.flatMap(({ message }, index) => (message.role === "assistant" ? [index] : []));
}

function shortenedResult(one: Entry): Entry {
  const { message, rest } = one;
  if (message.role !== "tool" || message.text.length <= shortResult) return one;
  const where = rest === undefined ? "" : `; the whole of it lies in ${rest}`;
  const text = `[cut to make room: ${message.text.length} characters of this result${where}]`;
  return entry({ ...message, text }, rest === undefined ? {} : { rest });
}
