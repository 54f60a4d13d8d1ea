// The format of scorers, scorers/NAME/scorer.yaml.
import * as t from "../schema.ts";

export const scorerManifest = t.fileFormat(
  "mlrb scorer",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      name: t.about(t.name, "the name of its folder"),
      title: t.title,
      version: t.about(t.positiveInteger, "raised when its meaning changes"),
      unit: t.about(t.text, "of its values, e.g. accuracy or bytes"),
      direction: t.about(t.oneOf("higher", "lower"), "which values are better"),
      range: {
        type: "array",
        items: [t.number, { type: ["number", "null"] }],
        minItems: 2,
        maxItems: 2,
        additionalItems: false,
        description: "its minimum and maximum, null for no maximum: [0, 1]",
      },
      environment: t.about(t.text, "the lock file of its Python; by default the task's"),
      hostSensitive: t.about(t.flag, "whether its values depend on the machine"),
      scoredText: t.about(
        t.text,
        "the texts whose tokens a model reads while it predicts them, by their name in scored_texts.py of the library of scorers; absent where looking ahead gains nothing",
      ),
      programs: t.about(t.flag, "whether its scripts start programs; false by default"),
      command: t.about(
        t.text,
        "a program outside the environment that it starts, as a shell command; seen with its install folder",
      ),
      digits: t.about({ type: "integer", minimum: 0, maximum: 6 }, "decimals in tables"),
    },
    ["formatVersion", "name", "title", "version", "unit", "direction", "digits"],
  ),
);

export type ScorerManifest = t.TypeOf<typeof scorerManifest>;
