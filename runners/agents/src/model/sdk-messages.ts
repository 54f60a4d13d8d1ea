// Converts messages to the AI SDK's form. A provider's own parts (signed or sealed reasoning, names of items) go
// back unchanged as long as the message still makes the same calls.
import type { AssistantContent, ModelMessage, SystemModelMessage } from "ai";
import type { Message } from "./model-client.ts";
import { isRaw, type RawPart } from "./raw-parts.ts";
import { wellFormed, wellFormedJson } from "./well-formed.ts";

type ProviderOptions = NonNullable<SystemModelMessage["providerOptions"]>;

/** Anthropic caches the request up to here; other providers cache without a mark. */
const keepUntilHere: ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Raw parts go back only to the `provider` that sent them. */
export function sdkMessages(messages: Message[], provider: string): ModelMessage[] {
  const converted: ModelMessage[] = [];
  for (const message of messages) {
    const last = converted.at(-1);
    // Anthropic takes the results of one answer's calls in one message; other providers accept that
    if (message.role === "tool" && last?.role === "tool") last.content.push(toolResult(message, provider));
    else converted.push(sdkMessage(message, provider));
  }
  if (provider === "anthropic") {
    const system = converted.findLast((message) => message.role === "system");
    if (system) system.providerOptions = keepUntilHere;
    const last = converted.at(-1);
    if (last && last !== system) last.providerOptions = keepUntilHere;
  }
  return converted;
}

function sdkMessage(message: Message, provider: string): ModelMessage {
  switch (message.role) {
    case "system":
      return { role: message.role, content: wellFormed(message.text) };
    case "user":
      return { role: message.role, content: userContent(message, provider) };
    case "tool":
      return { role: "tool", content: [toolResult(message, provider)] };
    case "assistant":
      return { role: "assistant", content: assistantParts(message, provider) };
  }
}

function userContent({ text, shared = 0 }: Extract<Message, { role: "user" }>, provider: string) {
  if (shared === 0 || provider !== "anthropic") return wellFormed(text);
  const part = (slice: string) => ({ type: "text" as const, text: wellFormed(slice) });
  return [{ ...part(text.slice(0, shared)), providerOptions: keepUntilHere }, part(text.slice(shared))];
}

function toolResult({ callId, name, text, failed }: Extract<Message, { role: "tool" }>, provider: string) {
  const value = wellFormed(text);
  // other providers have no such type, and the SDK would wrap the text in JSON
  const error = failed && provider === "anthropic";
  return {
    type: "tool-result" as const,
    toolCallId: callId,
    toolName: name,
    output: error ? { type: "error-text" as const, value } : { type: "text" as const, value },
  };
}

function assistantParts(
  { text, toolCalls, raw }: Extract<Message, { role: "assistant" }>,
  provider: string,
): Exclude<AssistantContent, string> {
  if (raw !== undefined && isRaw(raw) && raw.provider === provider) {
    const called = raw.parts.filter((part) => part.type === "tool-call").map((part) => part.id);
    if (called.join() === toolCalls.map((call) => call.id).join()) return raw.parts.map(sdkPart);
  }
  const calls = toolCalls.map(({ id, name, ...call }) => {
    // providers accept objects only
    const input = "input" in call ? call.input : { malformed: call.malformed };
    return sdkPart({ type: "tool-call", id, name, input });
  });
  // an answer without text and calls must still separate two messages of the user
  const said = text.trim() === "" && calls.length > 0 ? [] : [sdkPart({ type: "text", text: text || "…" })];
  return [...said, ...calls];
}

function sdkPart(part: RawPart) {
  const options = part.options && { providerOptions: part.options as ProviderOptions };
  if (part.type !== "tool-call") return { type: part.type, text: wellFormed(part.text), ...options };
  const { type, id: toolCallId, name: toolName } = part;
  return { type, toolCallId, toolName, input: wellFormedJson(part.input), ...options };
}
