// The arguments of a tool call as a model wrote them: a JSON object, or what it wrote in place of one.
import type { Json } from "@mlrb/kit/stage";
import type { ToolCall } from "./model-client.ts";
import { wellFormed, wellFormedJson } from "./well-formed.ts";

/** Deeper than any tool of ours asks for; what walks over JSON would run out of stack. */
const depthMax = 100;

export function toolCall(id: string, name: string, text: string): ToolCall {
  const input = objectOf(text);
  return input === undefined ? { id, name, malformed: wellFormed(text) } : { id, name, input };
}

function objectOf(text: string): Record<string, Json> | undefined {
  // a tool without arguments is called with nothing at all by some models
  if (text.trim() === "") return {};
  try {
    const value = JSON.parse(text) as Json;
    if (typeof value !== "object" || value === null || Array.isArray(value) || depthOver(value, depthMax))
      return undefined;
    return wellFormedJson(value) as Record<string, Json>;
  } catch {
    return undefined;
  }
}

function depthOver(value: Json, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return max === 0 || Object.values(value).some((inner) => depthOver(inner, max - 1));
}
