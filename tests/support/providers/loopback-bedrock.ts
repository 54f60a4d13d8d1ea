// Amazon Bedrock's ConverseStream. The model is in the path, and an answer is a series of binary frames. Source:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, and for the frames
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html (application/vnd.amazon.eventstream)
import { crc32 } from "node:zlib";
import { bearer } from "./loopback-openai-chat.ts";
import type { Complaint, CompleteAnswer, Protocol, SeenMessage } from "./loopback-reply.ts";
import { pieces, plainText } from "./loopback-reply.ts";

type Block = {
  text?: string;
  toolUse?: { toolUseId: string; name: string; input: unknown };
  toolResult?: { toolUseId: string; content: { text: string }[] };
};

export const bedrock: Protocol = {
  name: "bedrock",
  path: /^\/model\/([^/]+)\/(converse-stream)$/u,
  requestIdHeader: "x-amzn-requestid",
  keyOf: bearer,
  frame: { type: "application/vnd.amazon.eventstream", encode: frame },
  read(body) {
    const tools = (body.toolConfig as { tools: { toolSpec: { name: string } }[] } | undefined)?.tools ?? [];
    return {
      messages: [
        ...((body.system ?? []) as { text: string }[]).map(({ text }) => ({ role: "system" as const, text })),
        ...(body.messages as { role: "user" | "assistant"; content: Block[] }[]).flatMap(seen),
      ],
      tools: tools.map(({ toolSpec }) => toolSpec.name),
    };
  },
  body: () => ({ message: "the double only streams" }),
  events,
  complain: bedrockComplaint,
  complainLate: (complaint, model) => ({
    event: "throttlingException",
    data: bedrockComplaint(complaint, model).body,
  }),
};

function seen({ role, content }: { role: "user" | "assistant"; content: Block[] }): SeenMessage[] {
  const calls = content.flatMap(({ toolUse }) =>
    toolUse ? [{ id: toolUse.toolUseId, name: toolUse.name, input: JSON.stringify(toolUse.input) }] : [],
  );
  const results = content.flatMap(({ toolResult }) =>
    toolResult
      ? [{ role: "tool" as const, text: plainText(toolResult.content), callId: toolResult.toolUseId }]
      : [],
  );
  const text = plainText(content);
  const spoken =
    text === "" && calls.length === 0 ? [] : [{ role, text, ...(calls.length > 0 && { toolCalls: calls }) }];
  return [...results, ...spoken];
}

function events(answer: CompleteAnswer): { event: string; data: unknown }[] {
  const all: { event: string; data: unknown }[] = [{ event: "messageStart", data: { role: "assistant" } }];
  let contentBlockIndex = 0;
  const block = (deltas: object[], start?: object) => {
    if (start) all.push({ event: "contentBlockStart", data: { contentBlockIndex, start } });
    for (const delta of deltas) all.push({ event: "contentBlockDelta", data: { contentBlockIndex, delta } });
    all.push({ event: "contentBlockStop", data: { contentBlockIndex } });
    contentBlockIndex++;
  };
  if (answer.text !== "") block(pieces(answer.text).map((text) => ({ text })));
  for (const { id, name, input } of answer.toolCalls)
    block(
      pieces(input).map((input) => ({ toolUse: { input } })),
      { toolUse: { toolUseId: id, name } },
    );
  const stopReason = {
    ...{ stop: "end_turn", "tool-calls": "tool_use", length: "max_tokens", refusal: "content_filtered" },
  }[answer.finish];
  all.push({ event: "messageStop", data: { stopReason } });
  const { usage } = answer;
  if (usage) {
    const { input, output, cached = 0 } = usage;
    const counts = { inputTokens: input - cached, outputTokens: output, totalTokens: input + output };
    all.push({
      event: "metadata",
      data: { usage: { ...counts, cacheReadInputTokens: cached }, metrics: { latencyMs: 1 } },
    });
  }
  return all;
}

/** Lengths of the frame and of its headers, checksum of these, headers, payload, checksum of all. */
function frame({ event = "", data }: { event?: string; data: unknown }): Buffer {
  const isError = event.endsWith("Exception");
  const headers = Buffer.concat(
    Object.entries({
      ":message-type": isError ? "exception" : "event",
      [isError ? ":exception-type" : ":event-type"]: event,
      ":content-type": "application/json",
    }).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  const payload = Buffer.from(JSON.stringify(data));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const begin = Buffer.concat([prelude, checksum(prelude), headers, payload]);
  return Buffer.concat([begin, checksum(begin)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

function bedrockComplaint(complaint: Complaint, _model: string): { status: number; body: unknown } {
  const [status, message] = words[complaint];
  return { status, body: { message } };
}

const words: Record<Complaint, [status: number, message: string]> = {
  "rate-limit": [429, "Too many tokens, please wait before trying again."],
  "no-money": [429, "Too many tokens per day, please wait before trying again."],
  overloaded: [503, "Bedrock is unable to process your request."],
  "server-error": [
    500,
    "The system encountered an unexpected error during processing. Try your request again.",
  ],
  "wrong-key": [403, "Authentication failed: Please make sure your API Key is valid."],
  forbidden: [403, "You don't have access to the model with the specified model ID."],
  "unknown-model": [400, "The provided model identifier is invalid."],
  "retired-model": [404, "This model version has reached the end of its life."],
  "too-long": [400, "Input is too long for requested model."],
  "bad-request": [400, "The value at messages.0 is not valid."],
  policy: [400, "The request was blocked."],
};
