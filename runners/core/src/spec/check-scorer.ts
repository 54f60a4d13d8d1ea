// Checks a scorer.yaml beyond its shape.
import type { ScorerManifest } from "@mlrb/formats/declared/scorer";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";

export function checkScorer(source: YamlSource<ScorerManifest>): Diagnostic[] {
  const { range } = source.value;
  if (!range || range[1] === null || range[0] < range[1]) return [];
  return [
    {
      code: "wrong-value",
      message: `"range" goes from ${range[0]} to ${range[1]}`,
      place: source.place(["range"]),
      help: "write the metric's minimum, then its maximum: [0, 1], or [0, null] for no maximum",
    },
  ];
}
