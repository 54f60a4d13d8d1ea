// Which JSON values a shape takes, and which mean the same as leaving a field out. Pure.
import { unreachable } from "@mlrb/core/ports/outcome";
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

/** Whether the JSON type of `value` is that of the shape. */
export function takes(shape: Shape, value: Json): boolean {
  switch (shape.kind) {
    case "text":
    case "word":
    case "data-url":
    case "media-type":
    case "base64":
    case "file-name":
    case "address":
      return typeof value === "string";
    case "number":
      return numberOf(value) !== undefined;
    case "flag":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value);
    case "reaching":
      return takes(shape.of, value);
    case "either":
      return shape.of.some((one) => takes(one, value));
    case "object":
    case "table":
    case "variants":
      return isObject(value);
    case "opaque":
    case "schema":
    case "barred":
      return true;
    default:
      return unreachable(shape);
  }
}

export function wordsOf(shapes: readonly Shape[]): string {
  const words = shapes.map(({ kind }) => {
    if (kind === "text" || kind === "word") return "a text";
    if (kind === "list") return "a list";
    return kind === "number" || kind === "flag" ? `a ${kind}` : "an object";
  });
  return [...new Set(words)].join(" or ");
}
