// Tool calls as a model wrote them: their arguments, a JSON object or other text, and their ids.
import { isTable } from "@mlrb/formats/is-table";
import type { Json } from "@mlrb/kit/stage";
import { parsedJson } from "./json-text.ts";
import type { ToolCall } from "./model-client.ts";
import { wellFormed, wellFormedJson } from "./well-formed.ts";

/** No tool of ours takes deeper arguments. Recursion over deeper JSON would run out of stack. */
const depthMax = 100;

export function toolCall(id: string, name: string, text: string): ToolCall {
  const input = objectOf(text);
  return input === undefined ? { id, name, malformed: wellFormed(text) } : { id, name, input };
}

/** Endpoints send an id twice, or an empty one. Results are matched to their calls by id, so each must be unique. */
export function uniqueIds(ids: string[]): string[] {
  const seen = new Set<string>();
  return ids.map((id, place) => {
    const own = id !== "" && !seen.has(id) ? id : `${id || "call"}-${place + 1}`;
    seen.add(own);
    return own;
  });
}

function objectOf(text: string): Record<string, Json> | undefined {
  // some models call a tool without arguments with an empty text
  if (text.trim() === "") return {};
  const value = parsedJson(text);
  if (!isTable(value) || depthOver(value, depthMax)) return undefined;
  return wellFormedJson(value) as Record<string, Json>;
}

function depthOver(value: Json, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return max === 0 || Object.values(value).some((inner) => depthOver(inner, max - 1));
}
