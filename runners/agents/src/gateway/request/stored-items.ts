// Leaves out items that only a provider with a stored conversation could read. The defaults of OpenAI's SDK and of
// the AI SDK expect `store: true` and repeat reasoning without its content; the gateway always sends `store:
// false`. Pure.
import type { Json } from "@mlrb/kit/stage";
import { isObject } from "./request-json.ts";

type Body = Record<string, Json>;

/** `provider`: its name. `dropped` names each kind of item once. */
export function withoutStoredReasoning(body: Body, provider: string): { body: Body; dropped: string[] } {
  if (!Array.isArray(body.input)) return { body, dropped: [] };
  const dropped = new Set<string>();
  const input = body.input.map(namedReference).filter((item) => {
    const name = storedReasoning(item, provider);
    if (name !== undefined) dropped.add(name);
    return name === undefined;
  });
  return { body: { ...body, input }, dropped: [...dropped] };
}

/** A reference may leave out its type, and would then be taken for a message. */
function namedReference(item: Json): Json {
  const isReference =
    isObject(item) && (item.type ?? null) === null && typeof item.id === "string" && item.role === undefined;
  return isReference ? { ...item, type: "item_reference" } : item;
}

function storedReasoning(item: Json, provider: string): string | undefined {
  if (!isObject(item)) return undefined;
  if (item.type === "item_reference" && typeof item.id === "string" && item.id.startsWith("rs_"))
    return "input[] (item_reference to reasoning)";
  if (item.type !== "reasoning" || isPresent(item.encrypted_content)) return undefined;
  // other servers send the reasoning itself, and need no store to read it
  const readable = provider !== "openai" && isPresent(item.content);
  return readable ? undefined : "input[] (reasoning without encrypted_content)";
}

/** Values of a wrong type are present, so that they are refused and not dropped. */
function isPresent(value: Json | undefined): boolean {
  return (value ?? null) !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}
