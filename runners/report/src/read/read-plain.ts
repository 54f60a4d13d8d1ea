// Reads artifacts as untrusted files. Only declared fields are kept, with every text made plain, because texts
// reach tables. A bad file is a value with its cause and costs one entry of the report.
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import { plainText } from "./plain-text.ts";

const nameMax = 80;

/** `text` as JSON that follows `schema`, with texts up to `charactersMax`; fields that the schema does not declare are left out. */
export function readPlain<const Schema extends object>(
  schema: Schema,
  text: string,
  charactersMax?: number,
): Reading<TypeOf<Schema>> {
  const reading = readFormat(schema, text);
  if (reading.kind === "unreadable") return unreadable(reading.cause);
  return { kind: "ok", value: declared(schema, reading.value, charactersMax) as TypeOf<Schema> };
}

export function unreadable(cause: string): { kind: "unreadable"; cause: string } {
  return { kind: "unreadable", cause: plainText(cause) };
}

type Part = {
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Part>;
  required?: string[];
  additionalProperties?: Part;
  items?: Part;
  oneOf?: Part[];
  anyOf?: Part[];
};

/** `value`, which follows `schema`. Own keys only, so `__proto__` is a name like any other. */
function declared(schema: Part, value: unknown, charactersMax?: number): unknown {
  if (typeof value === "string") return plainText(value, charactersMax);
  if (Array.isArray(value)) return value.map((item) => declared(itemsOf(schema), item, charactersMax));
  if (value === null || typeof value !== "object") return value;
  const fields = fieldsOf(schema, value);
  const others = schema.additionalProperties;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      if (Object.hasOwn(fields, name)) return [[name, declared(fields[name]!, each, charactersMax)]];
      return others ? [[plainText(name, nameMax), declared(others, each, charactersMax)]] : [];
    }),
  );
}

/** The schema of a list's items, also of a list that may be null. */
function itemsOf({ items, anyOf }: Part): Part {
  const found = items ?? anyOf?.find((variant) => variant.items)?.items;
  if (!found) throw new Error("bug: a list whose schema does not describe its items");
  return found;
}

/** The properties of `schema` and of those of its variants that `value` may be. */
function fieldsOf({ properties, oneOf, anyOf }: Part, value: object): Record<string, Part> {
  const { kind } = value as { kind?: unknown };
  const variants = (oneOf ?? anyOf ?? []).filter((variant) => {
    const { const: one, enum: several } = variant.properties?.kind ?? {};
    if (one !== undefined) return one === kind;
    return several?.includes(kind) ?? (variant.required ?? []).every((name) => Object.hasOwn(value, name));
  });
  return Object.assign({}, properties, ...variants.map((variant) => fieldsOf(variant, value)));
}
