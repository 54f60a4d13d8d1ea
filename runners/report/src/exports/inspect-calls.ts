// Calls of models and of tools as Inspect's events. Pure.
import type { ModelCallEvent, ToolResultEvent } from "@mlrb/formats/attempt/trajectory";
import { assistantMessage, toolArguments, toolError } from "./inspect-messages.ts";
import type { InspectTexts } from "./inspect-texts.ts";
import { seconds, usageOf, utc } from "./inspect-values.ts";
import type { PoolPlaces } from "./pool-places.ts";
import type { OpenCall } from "./trajectory-walk.ts";

/** The fields of every event of Inspect's. */
export type Place = { uuid: string; span_id?: string; timestamp: string; working_start: number };

const stopReasons = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "max_tokens",
  refusal: "content_filter",
  other: "unknown",
} as const;

type Called = { at: Place; role: string; pool: PoolPlaces; texts: InspectTexts; workedMs: number };

export function modelEvent(
  index: number,
  event: ModelCallEvent,
  { at, role, pool, texts, workedMs }: Called,
): object {
  const { member, model, usage, durationMs } = event;
  const input = pool.asked(role);
  return {
    event: "model",
    ...at,
    timestamp: utc(new Date(Date.parse(at.timestamp) - durationMs).toISOString()),
    working_start: seconds(Math.max(0, workedMs - durationMs)),
    completed: at.timestamp,
    working_time: seconds(durationMs),
    model: `${event.provider}/${model}`,
    role,
    input: [],
    ...(input.length > 0 && { input_refs: input }),
    tools: [],
    tool_choice: "auto",
    config: {},
    output: {
      model: event.answeredBy ?? model,
      choices: [{ message: assistantMessage(index, event, texts), stop_reason: stopReasons[event.finish] }],
      completion: texts.reference(event.text),
      ...(usage && {
        usage: usageOf({
          ...usage,
          cachedInputTokens: usage.cachedInputTokens ?? 0,
          reasoningTokens: usage.reasoningTokens ?? 0,
          dollars: event.dollars,
        }),
      }),
      time: seconds(durationMs),
    },
    retries: Math.max(0, event.tries - 1),
    // `messages` against `messagesTold` shows whether all messages of the request are known
    metadata: {
      member,
      call: event.call,
      requestDigest: event.requestDigest,
      messages: event.messages,
      messagesTold: input.reduce((sum, [from, to]) => sum + to - from, 0),
    },
  };
}

type Answer = { event: ToolResultEvent; at: string; index: number };

/** `result` is undefined as long as the call has none. */
export function toolEvent(
  { id, name, input, by, member }: OpenCall,
  { place, result, texts }: { place: Place; result: Answer | undefined; texts: InspectTexts },
): object {
  const made = {
    event: "tool",
    ...place,
    type: "function",
    id,
    function: name,
    arguments: toolArguments(input, texts),
    events: [],
  };
  if (!result) return { ...made, result: "", pending: true, metadata: { by, member } };
  const { outcome, exit, text, rest, durationMs, executed } = result.event;
  const error = toolError(result.event);
  return {
    ...made,
    result: texts.inline(text),
    ...(error && { error }),
    completed: result.at,
    working_time: seconds(durationMs),
    message_id: `m${result.index}`,
    metadata: { by, member, outcome, executed, ...(exit && { exit }), ...(rest !== null && { rest }) },
  };
}
