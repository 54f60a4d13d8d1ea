// Which JSON values a shape takes, and which mean the same as leaving a field out. Pure.
import type { Json } from "@mlrb/kit/stage";
import { isObject, numberOf } from "./request-json.ts";
import type { Bar, Shape } from "./shape.ts";

/** Whether a field that may be refused has a value that means the same as leaving it out. */
export function isUnset(shape: Shape, value: Json): boolean {
  if (shape.kind === "reaching")
    return value === null || value === false || (Array.isArray(value) && value.length === 0);
  if (shape.kind !== "barred") return false;
  return value === null || isHarmless(shape.bar, value);
}

/** A harmless value, in any case, or a list of one. */
function isHarmless({ harmless = [] }: Bar, value: Json): boolean {
  const only = Array.isArray(value) && value.length === 1 ? value[0]! : value;
  return (harmless as readonly Json[]).includes(typeof only === "string" ? only.toLowerCase() : only);
}

const types = {
  text: { words: "a text", is: (value: Json) => typeof value === "string" },
  number: { words: "a number", is: (value: Json) => numberOf(value) !== undefined },
  flag: { words: "true or false", is: (value: Json) => typeof value === "boolean" },
  list: { words: "a list", is: (value: Json) => Array.isArray(value) },
  object: { words: "an object", is: isObject },
  any: { words: "anything", is: () => true },
};

const typeOf: Record<Exclude<Shape["kind"], "either" | "reaching">, keyof typeof types> = {
  ...{ text: "text", word: "text", address: "text", "data-url": "text", base64: "text" },
  ...{ "media-type": "text", "file-name": "text", number: "number", flag: "flag", list: "list" },
  ...{ object: "object", table: "object", variants: "object", opaque: "any", schema: "any", barred: "any" },
};

/** Whether the JSON type of `value` is that of the shape. */
export function takes(shape: Shape, value: Json): boolean {
  if (shape.kind === "reaching") return takes(shape.of, value);
  if (shape.kind === "either") return shape.of.some((one) => takes(one, value));
  return types[typeOf[shape.kind]].is(value);
}

/** The JSON types that the shape takes. */
export function wordsOf(shape: Shape): string {
  if (shape.kind === "reaching") return wordsOf(shape.of);
  if (shape.kind === "either") return [...new Set(shape.of.map(wordsOf))].join(" or ");
  return types[typeOf[shape.kind]].words;
}
