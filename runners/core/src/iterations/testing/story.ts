// Trajectories for tests, written in the short lines of the labelled set.
import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import { ResearchReader } from "../attempt-iterations.ts";
import { labelledTrajectory } from "./labelled-trajectory.ts";

/** Reads a whole trajectory at once. */
export function attemptIterations(lines: Iterable<unknown>): IterationsFile {
  const reader = new ResearchReader();
  for (const line of lines) reader.take(line);
  return reader.end();
}

type Line = Record<string, unknown> & { s: number };

export function events(lines: Line[], budgetS = 3600): Record<string, unknown>[] {
  const label = { label: { kind: "test", split: "tuning", whose: "none", where: "none", budgetS } };
  return labelledTrajectory("test", [label, ...lines].map((line) => JSON.stringify(line)).join("\n")).events;
}

export function story(lines: Line[], budgetS?: number): Extract<IterationsFile, { kind: "found" }> {
  const found = attemptIterations(events(lines, budgetS));
  if (found.kind !== "found") throw new Error("bug: a story is always found");
  return found;
}

export const model = ["config.json", "model.safetensors", "tokenizer.json"];
