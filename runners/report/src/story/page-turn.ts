// An event of a conversation in the parts that the page shows: what was said to a model, what it answered, and what it
// did with a tool. Text is unchanged and may be long: the caller makes it harmless and clips it. Pure.
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { objectIn } from "../exports/json-pieces.ts";
import { eventWords, resultWords } from "./event-words.ts";
import { type LineChange, lineChanges } from "./line-changes.ts";

export type PageTurn =
  | { kind: "message"; to: string; role: string; text: string }
  | { kind: "answer"; by: string; facts: string; reasoning: string; text: string }
  | { kind: "tool"; by: string; name: string; input: ToolInput; facts: string; bad: boolean; output: string };

/** A program or another call; or a file that it writes, with the changed lines that the call says. */
export type ToolInput =
  | { kind: "command"; text: string }
  | { kind: "file"; path: string; changes: LineChange[] };

/**
 * `inputs` are those of tool calls by their id; `whole` is the text of a long one, by default its beginning. Undefined
 * for events that are not of a conversation.
 */
export function pageTurn(
  event: TrajectoryEvent,
  inputs: ReadonlyMap<string, LongText>,
  whole: (text: LongText) => string = beginning,
): PageTurn | undefined {
  switch (event.event) {
    case "message":
      return {
        kind: "message",
        to: event.by,
        role: event.why === "prompt" ? event.role : event.why,
        text: whole(event.text),
      };
    case "request-part": {
      if (event.again || (event.part !== "message" && event.part !== "system")) return undefined;
      return {
        kind: "message",
        to: event.by,
        role: event.role ?? event.part,
        text: messageText(whole(event.text)),
      };
    }
    case "model-call": {
      const facts = eventWords({
        ...event,
        text: "",
        reasoning: null,
        toolCalls: event.toolCalls.filter(({ id }) => !inputs.has(id)),
      });
      return {
        kind: "answer",
        by: event.by,
        facts,
        reasoning: event.reasoning === null ? "" : whole(event.reasoning),
        text: whole(event.text),
      };
    }
    case "tool-result": {
      const { by, name, outcome, exit } = event;
      const bad = outcome !== "done" || (exit !== null && (!("code" in exit) || exit.code !== 0));
      return {
        kind: "tool",
        by,
        name,
        input: toolInput(whole(inputs.get(event.id) ?? "")),
        facts: resultWords(event),
        bad,
        output: whole(event.text),
      };
    }
    default:
      return undefined;
  }
}

function beginning(text: LongText): string {
  return typeof text === "string" ? text : `${text.head}…`;
}

/** The text of a message in a provider's JSON: that of its `content`, else the JSON. */
function messageText(json: string): string {
  const content = objectIn(json)?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return json;
  const texts = content.flatMap((part) => {
    const text = (Object(part) as { text?: unknown }).text;
    return typeof text === "string" ? [text] : [];
  });
  return texts.length === 0 ? json : texts.join("\n");
}

/**
 * A call with only a path and a text writes a file; with only a path, `old` and `new` it replaces a part of one. A call
 * with any other field is shown whole: else an agent could hide a command in a write.
 */
function toolInput(input: string): ToolInput {
  const fields = objectIn(input);
  if (!fields) return { kind: "command", text: input };
  const { path, text, old, new: now } = fields;
  const count = Object.keys(fields).length;
  if (typeof path === "string") {
    if (count === 3 && typeof old === "string" && typeof now === "string")
      return { kind: "file", path, changes: lineChanges(old, now) };
    if (count === 2 && typeof text === "string")
      return { kind: "file", path, changes: lineChanges("", text) };
  }
  const [only] = Object.values(fields);
  return { kind: "command", text: count === 1 && typeof only === "string" ? only : input };
}
