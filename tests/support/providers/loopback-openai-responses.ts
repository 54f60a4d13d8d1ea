// OpenAI's Responses protocol, the AI SDK's default for OpenAI.
// Source: https://platform.openai.com/docs/api-reference/responses and its streaming events
import { openaiComplaint } from "./loopback-complaints.ts";
import { bearer } from "./loopback-openai-chat.ts";
import { type CompleteAnswer, type Protocol, pieces, plainText, type SeenMessage } from "./loopback-reply.ts";

/** Azure's resources serve the same protocol under another path, with the key in a header of its own. */
export const azureResponses = (): Protocol => ({
  ...openaiResponses,
  path: "/openai/v1/responses",
  keyOf: (headers) => headers["api-key"],
});

type Item = Record<string, unknown> & { type: string; id: string };

export const openaiResponses: Protocol = {
  name: "openai-responses",
  path: "/v1/responses",
  requestIdHeader: "x-request-id",
  keyOf: bearer,
  read(body) {
    const input = body.input;
    const items = typeof input === "string" ? [{ role: "user", content: input }] : (input as Item[]);
    const messages = items.map(seen).filter((message) => message !== undefined);
    if (typeof body.instructions === "string") messages.unshift({ role: "system", text: body.instructions });
    return { messages, tools: ((body.tools ?? []) as { name: string }[]).map((tool) => tool.name) };
  },
  body: (answer) => response(answer, items(answer)),
  events(answer) {
    const all: Record<string, unknown>[] = [
      { type: "response.created", response: response(answer, null) },
      { type: "response.in_progress", response: response(answer, null) },
    ];
    for (const [output_index, item] of items(answer).entries()) all.push(...itemEvents(item, output_index));
    const last = answer.finish === "stop" || answer.finish === "tool-calls" ? "completed" : "incomplete";
    all.push({
      type: answer.refusal === null ? `response.${last}` : "response.completed",
      response: response(answer, items(answer)),
    });
    return all.map((data, place) => ({
      event: String(data.type),
      data: { ...data, sequence_number: place },
    }));
  },
  complain: openaiComplaint,
  complainLate(complaint, model) {
    const { error } = openaiComplaint(complaint, model).body as {
      error: { message: string; code: string | null; type: string };
    };
    const failed = {
      id: "resp_failed",
      object: "response",
      status: "failed",
      error: { code: error.code ?? error.type, message: error.message },
      output: [],
    };
    return {
      event: "response.failed",
      data: { type: "response.failed", sequence_number: 99, response: failed },
    };
  },
};

function seen(item: Record<string, unknown>): SeenMessage | undefined {
  switch (item.type) {
    case "function_call":
      return {
        role: "assistant",
        text: "",
        toolCalls: [{ id: String(item.call_id), name: String(item.name), input: String(item.arguments) }],
      };
    case "function_call_output":
      return { role: "tool", text: plainText(item.output), callId: String(item.call_id) };
    case "reasoning":
    case "item_reference":
      return undefined;
    default: {
      const role = item.role === "developer" ? "system" : (item.role as SeenMessage["role"]);
      return { role, text: plainText(item.content) };
    }
  }
}

function items(answer: CompleteAnswer): Item[] {
  const found: Item[] = [];
  if (answer.reasoning !== null)
    found.push({
      type: "reasoning",
      id: `rs_${answer.id}`,
      encrypted_content: `sealed:${answer.id}`,
      summary: [{ type: "summary_text", text: answer.reasoning }],
    });
  const content =
    answer.refusal === null
      ? { type: "output_text", text: answer.text, annotations: [] }
      : { type: "refusal", refusal: answer.refusal };
  if (answer.text !== "" || answer.refusal !== null)
    found.push({
      type: "message",
      role: "assistant",
      status: "completed",
      id: `msg_${answer.id}`,
      content: [content],
    });
  for (const [place, call] of answer.toolCalls.entries())
    found.push({
      type: "function_call",
      status: "completed",
      id: `fc_${answer.id}_${place}`,
      call_id: call.id,
      name: call.name,
      arguments: call.input,
    });
  return found;
}

function itemEvents(item: Item, output_index: number): Record<string, unknown>[] {
  const at = { item_id: item.id, output_index };
  const around = (inside: Record<string, unknown>[], added: Record<string, unknown>) => [
    { type: "response.output_item.added", output_index, item: { ...item, ...added } },
    ...inside,
    { type: "response.output_item.done", output_index, item },
  ];
  if (item.type === "function_call") {
    const deltas = pieces(String(item.arguments)).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...at,
      delta,
    }));
    const done = { type: "response.function_call_arguments.done", ...at, arguments: item.arguments };
    return around([...deltas, done], { arguments: "", status: "in_progress" });
  }
  if (item.type === "reasoning") {
    const [summary] = item.summary as { text: string }[];
    const part = { ...at, summary_index: 0 };
    const deltas = pieces(summary!.text).map((delta) => ({
      type: "response.reasoning_summary_text.delta",
      ...part,
      delta,
    }));
    return around(
      [
        { type: "response.reasoning_summary_part.added", ...part, part: { type: "summary_text", text: "" } },
        ...deltas,
        { type: "response.reasoning_summary_part.done", ...part, part: { type: "summary_text", ...summary } },
      ],
      { summary: [] },
    );
  }
  const [content] = item.content as (
    | { type: "output_text"; text: string }
    | { type: "refusal"; refusal: string }
  )[];
  const kind = content!.type === "refusal" ? "refusal" : "output_text";
  const text = content!.type === "refusal" ? content!.refusal : content!.text;
  const deltas = pieces(text).map((delta) => ({
    type: `response.${kind}.delta`,
    ...at,
    content_index: 0,
    delta,
  }));
  const done = {
    type: `response.${kind}.done`,
    ...at,
    content_index: 0,
    [kind === "refusal" ? "refusal" : "text"]: text,
  };
  return around([...deltas, done], { content: [], status: "in_progress" });
}

/** `output` is null while it is still in progress. */
function response(answer: CompleteAnswer, output: Item[] | null) {
  const incomplete = {
    length: "max_output_tokens",
    refusal: "content_filter",
    stop: null,
    "tool-calls": null,
  };
  const reason = answer.refusal === null ? incomplete[answer.finish] : null;
  const status = output === null ? "in_progress" : reason === null ? "completed" : "incomplete";
  const said = answer.usage;
  return {
    id: `resp_${answer.id}`,
    object: "response",
    created_at: 1_700_000_000,
    model: answer.model,
    status,
    error: null,
    incomplete_details: output === null || reason === null ? null : { reason },
    output: output ?? [],
    usage:
      output === null || said === null
        ? null
        : {
            input_tokens: said.input,
            input_tokens_details: { cached_tokens: said.cached ?? 0 },
            output_tokens: said.output,
            output_tokens_details: { reasoning_tokens: said.reasoning ?? 0 },
            total_tokens: said.input + said.output,
          },
  };
}
