// The events of the latest run under a root, for benches.
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export type BenchEvent = {
  event: string;
  time: string;
  stage?: string;
  log?: string;
  durationMs?: number;
  outcome?: { kind: string };
};

export function latestEvents(root: string): BenchEvent[] {
  const journals = globSync(join(root, ".mlrb/journals/*.jsonl")).map((path) => ({
    path,
    at: statSync(path).mtimeMs,
  }));
  const { path } = journals.toSorted((a, b) => b.at - a.at)[0]!;
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as BenchEvent);
}
