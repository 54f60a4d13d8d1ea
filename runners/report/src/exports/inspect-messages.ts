// The messages to models and from them as Inspect's messages. A pool holds each once; a model event refers to its
// request by positions in the pool. Pure.
import type { MessageEvent, ModelCallEvent, ToolResultEvent } from "@mlrb/formats/attempt/trajectory";
import type { TrajectoryLine } from "./attempt-source.ts";
import type { InspectTexts } from "./inspect-texts.ts";
import { objectIn } from "./json-pieces.ts";
import type { Conversation } from "./trajectory-walk.ts";

/** Longer arguments of a tool become one text instead of fields. */
const argumentsMax = 256 << 10;

type MessageSource = MessageEvent | ModelCallEvent | ToolResultEvent;

export function isSaid(
  line: TrajectoryLine,
): line is TrajectoryLine & { kind: "event"; event: MessageSource } {
  return (
    line.kind === "event" &&
    (line.event.event === "message" ||
      line.event.event === "model-call" ||
      line.event.event === "tool-result")
  );
}

/** Every message of one conversation, or without one of all, in the order of the trajectory. */
export function* inspectMessages(
  lines: Iterable<TrajectoryLine>,
  texts: InspectTexts,
  of?: Conversation,
): Generator<object> {
  for (const line of lines)
    if (isSaid(line) && (!of || (line.event.by === of.by && line.event.member === of.member)))
      yield message(line.index, line.event, texts);
}

function message(index: number, event: MessageSource, texts: InspectTexts): object {
  const id = `m${index}`;
  if (event.event === "model-call") return assistantMessage(index, event, texts);
  if (event.event === "message") {
    const { by, member, role, why, text } = event;
    return {
      id,
      role,
      content: texts.reference(text),
      ...(role === "user" && { source: "input" }),
      metadata: { by, member, why },
    };
  }
  const { by, member, id: callId, name, text } = event;
  const error = toolError(event);
  return {
    id,
    role: "tool",
    content: texts.reference(text),
    tool_call_id: callId,
    function: name,
    ...(error && { error }),
    metadata: { by, member },
  };
}

export function assistantMessage(index: number, event: ModelCallEvent, texts: InspectTexts): object {
  const { by, member, text, reasoning, toolCalls, answeredBy, model } = event;
  const content =
    reasoning === null
      ? texts.reference(text)
      : [
          { type: "reasoning", reasoning: texts.reference(reasoning), redacted: false },
          { type: "text", text: texts.reference(text) },
        ];
  const calls = toolCalls.map(({ id, name, input, malformed }) => ({
    id,
    function: name,
    arguments: malformed ? {} : toolArguments(input, texts),
    ...(malformed && { parse_error: texts.reference(input) }),
    type: "function",
  }));
  return {
    id: `m${index}`,
    role: "assistant",
    content,
    source: "generate",
    model: answeredBy ?? model,
    ...(calls.length > 0 && { tool_calls: calls }),
    metadata: { by, member },
  };
}

/** As an object; a text that is not one, or is too long, is under the name `input`. */
export function toolArguments(
  input: ModelCallEvent["toolCalls"][number]["input"],
  texts: InspectTexts,
): Record<string, unknown> {
  const whole = texts.whole(input, argumentsMax);
  const found = whole !== undefined && whole.length <= argumentsMax ? objectIn(whole) : undefined;
  return found ?? { input: texts.reference(input) };
}

export function toolError({ outcome, text }: ToolResultEvent): { type: string; message: string } | undefined {
  if (outcome === "done") return undefined;
  const type = outcome === "refused" ? "parsing" : outcome === "timed-out" ? "timeout" : "unknown";
  const words = typeof text === "string" ? text : text.head;
  return { type, message: words.slice(0, 500) };
}
