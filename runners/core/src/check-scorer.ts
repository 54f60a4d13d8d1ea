// What is wrong with a scorer.yaml beyond its shape.
import type { Diagnostic } from "./diagnostic.ts";
import type { YamlSource } from "./yaml-source.ts";

/** `source` has the shape of a scorer. */
export function checkScorer(source: YamlSource): Diagnostic[] {
  const { range } = source.value as { range?: [number, number | null] };
  if (!range || range[1] === null || range[0] < range[1]) return [];
  return [
    {
      code: "wrong-value",
      message: `"range" goes from ${range[0]} to ${range[1]}`,
      place: source.place(["range"]),
      help: "write the least that the metric can be, then the most: [0, 1], or [0, null] for no most",
    },
  ];
}
