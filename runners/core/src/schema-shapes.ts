// The shapes that schemas of manifests are made of.

export const text = { type: "string", minLength: 1 } as const;
export const name = { type: "string", pattern: "^[a-z][a-z0-9-]*$" } as const;
export const list = { type: "array", items: text } as const;

/** A table of these fields and no others. */
export const closed = (properties: Record<string, object>, required: string[]) => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
