// Records what the programs of the authored recordings print, from attempts whose tools ran:
//   ./mlrb run sample --live-tools --only 'attempt[*]' && node scripts/record-sample.ts
// After a change of a recording's programs remove its outputs first: a live replay that prints something else stops.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { authoredFiles } from "@mlrb/agents/record/authored";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { canonicalJson } from "@mlrb/kit/json-file";
import { recordsIn } from "../tests/support/end-state.ts";

const repository = join(import.meta.dirname, "..");
const folder = join(repository, "runners/agents/recordings/sample");
const printed: Record<string, Record<string, string[]>> = {};
const startedAt = ({ record }: { record: Record<string, unknown> }) =>
  (record.ran as { startedAt: string }).startedAt;
// of several attempts the last one holds
for (const { digest } of recordsIn(repository).sort((a, b) => (startedAt(a) < startedAt(b) ? -1 : 1))) {
  const path = join(repository, ".mlrb/attempts/records", digest, "trajectory.jsonl");
  const events = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TrajectoryEvent);
  const [start] = events;
  if (start?.event !== "start" || start.replay?.tools !== "live" || start.replay.recording !== "authored")
    continue;
  const { outputs } = authoredFiles(folder, start);
  const texts = events.flatMap((event) =>
    event.event === "tool-result" && event.executed && typeof event.text === "string" ? [event.text] : [],
  );
  printed[outputs] = { ...printed[outputs], [start.seed]: texts };
}
for (const [file, seeds] of Object.entries(printed)) writeFileSync(file, `${canonicalJson(seeds, 2)}\n`);
console.log(`recorded ${Object.keys(printed).length} recordings`);
