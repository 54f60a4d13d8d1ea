// Parts of the schemas of a trajectory's events.

/** Up to what JSON's readers hold exactly: sums over a hostile trajectory stay numbers. */
export const count = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
export const ordinal = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

/** One event: all `fields`, and of the `optional` ones any. */
export function event<const Name extends string, const Fields extends object, const Optional extends object>(
  name: Name,
  fields: Fields,
  optional: Optional,
) {
  return {
    type: "object",
    properties: { event: { const: name }, ...fields, ...optional },
    // the type says the same in the form from which a type can be inferred
    required: ["event", ...Object.keys(fields)] as unknown as readonly ["event" | (keyof Fields & string)],
  } as const;
}
