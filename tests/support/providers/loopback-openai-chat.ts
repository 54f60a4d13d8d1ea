// OpenAI's chat completions, which vLLM, Ollama, LiteLLM and many others use too.
// Source: https://platform.openai.com/docs/api-reference/chat
import { openaiComplaint } from "./loopback-complaints.ts";
import { type CompleteAnswer, type Protocol, pieces, plainText, type SeenMessage } from "./loopback-reply.ts";

export const openaiChat: Protocol = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  requestIdHeader: "x-request-id",
  keyOf: bearer,
  read(body) {
    const messages = (body.messages as Record<string, unknown>[]).map(seen);
    const tools = (body.tools ?? []) as { function: { name: string } }[];
    return { messages, tools: tools.map((tool) => tool.function.name) };
  },
  body(answer) {
    const message = {
      role: "assistant",
      content: answer.text === "" ? null : answer.text,
      refusal: answer.refusal,
      ...(answer.reasoning !== null && { reasoning_content: answer.reasoning }),
      ...(answer.toolCalls.length > 0 && { tool_calls: answer.toolCalls.map(functionCall) }),
    };
    return {
      ...head(answer, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: finishReason(answer), logprobs: null }],
      ...(answer.usage && { usage: usage(answer.usage) }),
    };
  },
  events(answer) {
    const chunk = (delta: object, finish: string | null = null) => ({
      data: {
        ...head(answer, "chat.completion.chunk"),
        choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      },
    });
    const events: { data: unknown }[] = [chunk({ role: "assistant", content: "" })];
    for (const piece of pieces(answer.reasoning ?? "")) events.push(chunk({ reasoning_content: piece }));
    for (const piece of pieces(answer.text)) events.push(chunk({ content: piece }));
    for (const piece of pieces(answer.refusal ?? "")) events.push(chunk({ refusal: piece }));
    for (const [index, call] of answer.toolCalls.entries()) {
      const { function: called, ...rest } = functionCall(call);
      events.push(
        chunk({ tool_calls: [{ index, ...rest, function: { name: called.name, arguments: "" } }] }),
      );
      for (const piece of pieces(call.input))
        events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
    events.push(chunk({}, finishReason(answer)));
    if (answer.usage)
      events.push({
        data: { ...head(answer, "chat.completion.chunk"), choices: [], usage: usage(answer.usage) },
      });
    return [...events, { data: "[DONE]" }];
  },
  complain: openaiComplaint,
  complainLate: (complaint, model) => ({ data: openaiComplaint(complaint, model).body }),
};

export function bearer(headers: Record<string, string>): string | undefined {
  return headers.authorization?.replace(/^Bearer /u, "");
}

function seen(message: Record<string, unknown>): SeenMessage {
  const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
  const role = message.role === "developer" ? "system" : (message.role as SeenMessage["role"]);
  return {
    role,
    text: plainText(message.content),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ id, function: called }) => ({
        id,
        name: called.name,
        input: called.arguments,
      })),
    }),
    ...(role === "tool" && { callId: String(message.tool_call_id) }),
  };
}

function head(answer: CompleteAnswer, object: string) {
  const { fingerprint } = answer;
  return {
    ...{ id: `chatcmpl-${answer.id}`, object, created: 1_700_000_000, model: answer.model },
    ...(fingerprint !== null && { system_fingerprint: fingerprint }),
  };
}

function functionCall(call: CompleteAnswer["toolCalls"][number]) {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.input } };
}

// A model's own refusal ends with `stop` and a `refusal`; `content_filter` is the provider's filter.
function finishReason(answer: CompleteAnswer): string {
  if (answer.finish === "tool-calls") return "tool_calls";
  if (answer.finish === "refusal") return answer.refusal === null ? "content_filter" : "stop";
  return answer.finish;
}

function usage(said: NonNullable<CompleteAnswer["usage"]>) {
  return {
    prompt_tokens: said.input,
    completion_tokens: said.output,
    total_tokens: said.input + said.output,
    prompt_tokens_details: { cached_tokens: said.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: said.reasoning ?? 0 },
  };
}
