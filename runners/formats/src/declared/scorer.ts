// The format of scorers, scorers/NAME/scorer.yaml.
import { closedObject, fileFormat, flag, name, oneOf, type TypeOf, text } from "../schema.ts";

export const scorerManifest = fileFormat(
  "mlrb scorer",
  closedObject(
    {
      formatVersion: { const: 1 },
      name,
      title: text,
      version: { type: "integer", minimum: 1, description: "raised when what it measures changes" },
      unit: text,
      direction: oneOf("higher", "lower"),
      range: {
        type: "array",
        items: [{ type: "number" }, { type: ["number", "null"] }],
        minItems: 2,
        maxItems: 2,
        additionalItems: false,
        description: "the least and the most that it can be, null for no most: [0, 1]",
      },
      environment: text,
      hostSensitive: { ...flag, description: "whether its values depend on the machine" },
      programs: { ...flag, description: "whether its scripts start programs; false by default" },
      command: {
        ...text,
        description: "a program outside the environment that it starts, as written in a shell",
      },
      digits: { type: "integer", minimum: 0, maximum: 6, description: "after the point in tables" },
    },
    ["formatVersion", "name", "title", "version", "unit", "direction", "digits"],
  ),
);

export type ScorerManifest = TypeOf<typeof scorerManifest>;
