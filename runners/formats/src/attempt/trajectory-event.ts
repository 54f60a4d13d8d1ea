// Parts of the schemas of a trajectory's events.
import * as t from "../schema.ts";

/** Bounded by what JSON readers hold exactly, so that sums over a hostile trajectory stay finite. */
export const count = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
export const ordinal = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

/** How a program ended; null if it did not end by itself. */
export const exit = t.nullable({
  anyOf: [t.wholeObject({ code: { type: "integer" } }), t.wholeObject({ signal: t.anyText })],
});

/** How an agent's program or scaffold ended: its result, or the reason for which the supervisor ended it. */
export const programEnding = t.openObject(
  {
    kind: t.anyText,
    code: { type: "integer" },
    signal: t.anyText,
    detail: t.anyText,
    limit: t.anyText,
    over: t.openObject({ limit: t.anyText, detail: t.anyText }, []),
  },
  [],
);

/** In every event of a member of a team. */
export const eventMember = t.about(t.text, "the member of a team whose event it is; absent for other agents");

/** One event: all `fields` and any of the `optional` ones. */
export function event<
  const Name extends string,
  const Fields extends object,
  const Optional extends object = Record<never, never>,
>(name: Name, fields: Fields, optional = {} as Optional) {
  return {
    type: "object",
    properties: { event: { const: name }, member: eventMember, ...fields, ...optional },
    // cast to the form from which TypeOf can infer a type
    required: ["event", ...Object.keys(fields)] as unknown as readonly ["event" | (keyof Fields & string)],
  } as const;
}
