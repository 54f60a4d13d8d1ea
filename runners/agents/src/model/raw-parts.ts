// The `raw` of an answer: its parts in order, with the options that the provider attached. Kept only with such
// options. In a replay it comes from a trajectory, so it is checked.
import { isTable } from "@mlrb/formats/is-table";
import type { Json } from "@mlrb/kit/stage";

type Options = { options?: Json };

export type RawPart =
  | ({ type: "text" | "reasoning"; text: string } & Options)
  | ({ type: "tool-call"; id: string; name: string; input: Json } & Options);

export type Raw = { provider: string; parts: RawPart[] };

export function isRaw(value: Json): value is Raw {
  if (!isTable(value) || typeof value.provider !== "string" || !Array.isArray(value.parts)) return false;
  return value.parts.every((part) => {
    if (!isTable(part) || (part.options !== undefined && !isTable(part.options))) return false;
    if (part.type === "tool-call")
      return typeof part.id === "string" && typeof part.name === "string" && part.input !== undefined;
    return (part.type === "text" || part.type === "reasoning") && typeof part.text === "string";
  });
}
