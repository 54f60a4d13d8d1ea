// Building blocks of JSON Schemas. A file format is one schema: `TypeOf` infers its TypeScript type,
// pipelines/*.schema.json publish it, and `readFormat` checks files with it (ADR 30). Formats import all of this
// as `t`.
import type { XStatic } from "typebox/schema";

/** The TypeScript type of the values that a schema admits. */
export type TypeOf<Schema> = WithJson<XStatic<Schema>>;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// `XStatic` infers `unknown` for an empty schema, but data from JSON or YAML is at least JSON. `XStatic` expands
// recursive types, so this constant marks the place and `WithJson` replaces it.
declare const anyJson: unique symbol;
type WithJson<Type> = Type extends typeof anyJson
  ? Json
  : Type extends object
    ? { [Key in keyof Type]: WithJson<Type[Key]> }
    : Type;

/** Any JSON value. */
export const json = {} as { const: typeof anyJson };
/** An object of any JSON values. */
export const jsonObject = { type: "object" } as { type: "object"; additionalProperties: typeof json };
export const anyText = { type: "string" } as const;
/** A text that is not empty. */
export const text = { type: "string", minLength: 1 } as const;
/** A path that leads to no place outside of its folder, if none of its parts is a link. */
export const pathInside = {
  type: "string",
  pattern: "^(?!\\.{0,2}(/|$))[^/\\u0000]+(/(?!\\.{0,2}(/|$))[^/\\u0000]+)*$",
} as const;
/** The version of a file's format, which a newer program may raise. */
export const formatVersionOne = { const: 1, description: "version of this file's format" } as const;
/** What people read in tables and on pages. */
export const title = { ...text, description: "its name in tables and on pages" } as const;
export const name = { type: "string", pattern: "^[a-z][a-z0-9-]*$" } as const;
/**
 * The name of a pipeline, a profile, a stage or an axis. Other people's files hold such names too: none is a path,
 * an option or a pattern.
 */
export const declaredName = { type: "string", pattern: "^[a-z][a-zA-Z0-9-]*$" } as const;
/** With its unit, e.g. `90s`. */
export const duration = { ...text, format: "duration" } as const;
export const list = { type: "array", items: text } as const;
export const count = { type: "integer", minimum: 0 } as const;
export const positiveInteger = { type: "integer", minimum: 1 } as const;
/** At least 0, with or without decimals. */
export const amount = { type: "number", minimum: 0 } as const;
export const flag = { type: "boolean" } as const;
export const number = { type: "number" } as const;
export const numberOrNull = { type: ["number", "null"] } as const;
export const textOrNull = { type: ["string", "null"] } as const;
/** An attempt's seed: a value of the pipeline's axis. */
export const seed = { type: ["number", "string"] } as const;
export const sha256 = { type: "string", pattern: "^[0-9a-f]{64}$" } as const;

/** `schema`, described for its readers. */
export function about<const Schema extends object>(schema: Schema, description: string) {
  return { ...schema, description } as const;
}

/** An object of `properties` and no others. */
export function closedObject<const Properties, const Required extends readonly (keyof Properties & string)[]>(
  properties: Properties,
  required: Required,
) {
  return { type: "object", additionalProperties: false, properties, required } as const;
}

/** An object of at least the `required` ones of `properties`; readers ignore properties that they do not know. */
export function openObject<const Properties, const Required extends readonly (keyof Properties & string)[]>(
  properties: Properties,
  required: Required,
) {
  return { type: "object", properties, required } as const;
}

/** An object with all of `properties`; readers ignore properties that they do not know. */
export function wholeObject<const Properties extends object>(properties: Properties) {
  // XStatic uses only the element type, and loses lists that are not tuples
  const required = Object.keys(properties) as string[] as [keyof Properties & string];
  return { type: "object", properties, required } as const;
}

/** An object with all of `properties`, except perhaps the `optional` ones; readers ignore those that they do not know. */
export function wholeExcept<
  const Optional extends readonly (keyof Properties & string)[],
  const Properties extends object,
>(optional: Optional, properties: Properties) {
  const { required: all } = wholeObject(properties);
  const required = all.filter((name) => !optional.includes(name));
  return {
    type: "object",
    properties,
    required: required as string[] as [Exclude<keyof Properties & string, Optional[number]>],
  } as const;
}

/** A variant of `kindsOf` and `kindsWith`: an object of this `kind` with all of `properties`. */
export function variant<const Kind extends string, const Properties extends object = Record<never, never>>(
  kind: Kind,
  properties = {} as Properties,
) {
  return wholeObject({ kind: { const: kind }, ...properties });
}

/** An object of the variant that its `kind` names. */
export function kindsOf<const Variants extends readonly object[]>(...variants: Variants) {
  return kindsWith({}, ...variants);
}

/** An object of all of `properties` and of the variant that its `kind` names. */
export function kindsWith<const Properties extends object, const Variants extends readonly object[]>(
  properties: Properties,
  ...variants: Variants
) {
  return {
    type: "object",
    properties,
    required: ["kind", ...wholeObject(properties).required],
    discriminator: { propertyName: "kind" },
    oneOf: variants,
  } as const;
}

/** An object of some of `properties` and no others. */
export function partialObject<const Properties>(properties: Properties) {
  return { type: "object", additionalProperties: false, properties } as const;
}

/**
 * A value of either of two JSON types. One schema with two types instead of `anyOf`: a wrong value would fail both
 * branches and be reported twice.
 */
export function eitherType<const One extends { type: unknown }, const Other extends { type: unknown }>(
  one: One,
  other: Other,
) {
  const merged = { ...one, ...other, type: [one.type, other.type] };
  return merged as unknown as { anyOf: [One, Other] };
}

/** An object of any keys, whose values all follow one schema. */
export function tableOf<const Value>(value: Value) {
  return { type: "object", additionalProperties: value } as const;
}

export function listOf<const Item>(items: Item) {
  return { type: "array", items } as const;
}

export function pairOf<const First, const Second = First>(first: First, second: Second = first as never) {
  return { type: "array", items: [first, second], minItems: 2, additionalItems: false } as const;
}

export function nullable<const Schema>(schema: Schema) {
  return { anyOf: [schema, { type: "null" }] } as const;
}

/** `schema` or null. One schema instead of `anyOf`, so that problems inside a value are reported as such. */
export function orNull<const Schema extends object>(schema: Schema) {
  const { type, enum: values } = schema as { type?: unknown; enum?: readonly unknown[] };
  const widened = {
    ...schema,
    ...(type !== undefined && { type: [type, "null"].flat() }),
    ...(values && { enum: [...values, null] }),
  };
  return widened as unknown as { anyOf: [Schema, { type: "null" }] };
}

export function oneOf<const Values extends readonly (string | number | boolean)[]>(...values: Values) {
  return { enum: values } as const;
}

/** The schema of a file of one version with all of `properties`, as published. */
export function wholeFile<const Version extends number, const Properties extends object>(
  title: string,
  version: Version,
  properties: Properties,
) {
  return fileFormat(title, wholeObject({ formatVersion: { const: version }, ...properties }));
}

/** The schema of a whole file, as published. */
export function fileFormat<const Schema extends object>(title: string, schema: Schema) {
  return { $schema: "http://json-schema.org/draft-07/schema#", title, ...schema } as const;
}
