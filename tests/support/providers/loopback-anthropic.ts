// Anthropic's messages protocol.
// Source: https://docs.claude.com/en/api/messages and its page on streaming
import { anthropicComplaint } from "./loopback-complaints.ts";
import { type CompleteAnswer, type Protocol, pieces, plainText, type SeenMessage } from "./loopback-reply.ts";

type Block = Record<string, unknown> & { type: string };

export const anthropic: Protocol = {
  name: "anthropic",
  path: "/v1/messages",
  requestIdHeader: "request-id",
  keyOf: (headers) => headers["x-api-key"],
  read(body) {
    const messages = (body.messages as { role: "user" | "assistant"; content: string | Block[] }[]).flatMap(
      seen,
    );
    const system = plainText(body.system);
    if (system !== "") messages.unshift({ role: "system", text: system });
    return { messages, tools: ((body.tools ?? []) as { name: string }[]).map((tool) => tool.name) };
  },
  body: (answer) => ({
    ...head(answer),
    content: blocks(answer).map((block) =>
      block.type === "tool_use" ? { ...block, input: readInput(String(block.input)) } : block,
    ),
    stop_reason: stopReason(answer),
    stop_sequence: null,
    ...(answer.usage && { usage: usage(answer.usage) }),
  }),
  events(answer) {
    // The start of a stream must have counts: unknown usage is 0.
    const counted = usage(answer.usage ?? { input: 0, output: 0 });
    const start = { ...head(answer), content: [], stop_reason: null, stop_sequence: null };
    const all: Record<string, unknown>[] = [
      { type: "message_start", message: { ...start, usage: { ...counted, output_tokens: 1 } } },
      { type: "ping" },
    ];
    for (const [index, block] of blocks(answer).entries()) all.push(...blockEvents(block, index));
    all.push(
      {
        type: "message_delta",
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: { output_tokens: counted.output_tokens },
      },
      { type: "message_stop" },
    );
    return all.map((data) => ({ event: String(data.type), data }));
  },
  complain: anthropicComplaint,
  complainLate: (complaint, model) => ({ event: "error", data: anthropicComplaint(complaint, model).body }),
};

function seen({ role, content }: { role: "user" | "assistant"; content: string | Block[] }): SeenMessage[] {
  if (typeof content === "string") return [{ role, text: content }];
  const results = content
    .filter((block) => block.type === "tool_result")
    .map((block) => ({
      role: "tool" as const,
      text: plainText(block.content),
      callId: String(block.tool_use_id),
    }));
  const calls = content
    .filter((block) => block.type === "tool_use")
    .map((block) => ({
      id: String(block.id),
      name: String(block.name),
      input: JSON.stringify(block.input),
    }));
  const text = plainText(content.filter((block) => block.type === "text"));
  if (text === "" && calls.length === 0) return results;
  return [...results, { role, text, ...(calls.length > 0 && { toolCalls: calls }) }];
}

function head(answer: CompleteAnswer) {
  return { id: `msg_${answer.id}`, type: "message", role: "assistant", model: answer.model };
}

/** A tool's input is text here. */
function blocks(answer: CompleteAnswer): Block[] {
  const found: Block[] = [];
  if (answer.reasoning !== null)
    found.push({ type: "thinking", thinking: answer.reasoning, signature: `signed:${answer.id}` });
  const text = answer.refusal ?? answer.text;
  if (text !== "") found.push({ type: "text", text });
  for (const call of answer.toolCalls)
    found.push({ type: "tool_use", id: call.id, name: call.name, input: call.input });
  return found;
}

function blockEvents(block: Block, index: number): Record<string, unknown>[] {
  const around = (content_block: Block, deltas: Record<string, unknown>[]) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  switch (block.type) {
    case "thinking":
      return around({ type: "thinking", thinking: "", signature: "" }, [
        ...pieces(String(block.thinking)).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block.signature },
      ]);
    case "tool_use":
      return around(
        { ...block, input: {} },
        pieces(String(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      );
    default:
      return around(
        { type: "text", text: "" },
        pieces(String(block.text)).map((text) => ({ type: "text_delta", text })),
      );
  }
}

// A body that is not streamed can only be JSON.
function readInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function stopReason(answer: CompleteAnswer): string {
  const words = { stop: "end_turn", "tool-calls": "tool_use", length: "max_tokens", refusal: "refusal" };
  return words[answer.finish];
}

// Anthropic counts tokens read from and written to the cache separately from the input.
function usage(said: NonNullable<CompleteAnswer["usage"]>) {
  return {
    input_tokens: said.input - (said.cached ?? 0) - (said.cacheWritten ?? 0),
    cache_read_input_tokens: said.cached ?? 0,
    cache_creation_input_tokens: said.cacheWritten ?? 0,
    output_tokens: said.output,
  };
}
