// The format of scorers, scorers/NAME/scorer.yaml.
import {
  closedObject,
  fileFormat,
  flag,
  formatVersionOne,
  name,
  oneOf,
  type TypeOf,
  text,
  title,
} from "../schema.ts";

export const scorerManifest = fileFormat(
  "mlrb scorer",
  closedObject(
    {
      formatVersion: formatVersionOne,
      name: { ...name, description: "the name of its folder" },
      title,
      version: { type: "integer", minimum: 1, description: "raised when its meaning changes" },
      unit: { ...text, description: "of its values, e.g. accuracy or bytes" },
      direction: { ...oneOf("higher", "lower"), description: "which values are better" },
      range: {
        type: "array",
        items: [{ type: "number" }, { type: ["number", "null"] }],
        minItems: 2,
        maxItems: 2,
        additionalItems: false,
        description: "its minimum and maximum, null for no maximum: [0, 1]",
      },
      environment: { ...text, description: "the lock file of its Python; by default the task's" },
      hostSensitive: { ...flag, description: "whether its values depend on the machine" },
      scoredText: {
        ...text,
        description:
          "the texts whose tokens a model reads while it predicts them, by their name in scored_texts.py of the library of scorers; absent where looking ahead gains nothing",
      },
      programs: { ...flag, description: "whether its scripts start programs; false by default" },
      command: {
        ...text,
        description:
          "a program outside the environment that it starts, as a shell command; seen with its install folder",
      },
      digits: { type: "integer", minimum: 0, maximum: 6, description: "decimals in tables" },
    },
    ["formatVersion", "name", "title", "version", "unit", "direction", "digits"],
  ),
);

export type ScorerManifest = TypeOf<typeof scorerManifest>;
