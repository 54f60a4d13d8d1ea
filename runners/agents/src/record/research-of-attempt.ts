// Reads an attempt's outputs and derives what is known of its research. The files are untrusted: a trajectory that
// differs from what its supervisor wrote yields no numbers, only the reason.
import { join } from "node:path";
import { type JudgedSnapshot, ResearchReader } from "@mlrb/core/iterations/attempt-iterations";
import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import { type SnapshotIndex, snapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import { admission } from "@mlrb/formats/judged/admission";
import { mustFollow, type Reading, readFormat } from "@mlrb/formats/read-format";
import { readBounded } from "@mlrb/kit/admission/admission-files";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import { leftBehind } from "@mlrb/kit/attempts/left-behind";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { readJson } from "@mlrb/kit/json-file";
import { readLedger } from "@mlrb/kit/rules/ledger";

export type AttemptFiles = {
  trajectory: string;
  ledger: string;
  /** The folder of kept snapshots, with index.json. */
  snapshots: string;
  /** Validation's result for the submission. */
  admission: string;
};

/** `publicNames`: of the benchmarks that the attempt's submission is scored on; empty if there are none. */
export async function researchOfAttempt(
  files: AttemptFiles,
  { publicNames }: { publicNames: readonly string[] },
): Promise<IterationsFile> {
  const ledger = readLedger(files.ledger);
  if (typeof ledger === "string") return notMeasured(ledger);
  const check = await verifyTrajectory(files.trajectory, ledger.trajectory);
  if (check.kind === "broken")
    return notMeasured(`the trajectory is broken at line ${check.line}: ${check.reason}`);
  const index = indexOf(files.snapshots);
  if (index.kind === "unreadable") return notMeasured(`the index of the snapshots: ${index.cause}`);
  const reader = new ResearchReader(publicNames);
  const isLeftBehind = await leftBehind(files.trajectory);
  let number = 0;
  for await (const line of splitLines(files.trajectory))
    if (!isLeftBehind(number++)) reader.take(JSON.parse(line.toString()));
  return reader.end({
    snapshots: judgedSnapshots(files.snapshots, index.value),
    final: mustFollow(admission, readJson(files.admission), "admission.json").admitted,
    endMs: ledger.wallMs,
    over: ledger.over?.limit,
  });
}

function indexOf(folder: string): Reading<SnapshotIndex> {
  const bytes = readBounded(join(folder, "index.json"), readingLimits.snapshotIndexBytes);
  if (typeof bytes === "string") return { kind: "unreadable", cause: bytes };
  return readFormat(snapshotIndex, Buffer.from(bytes).toString());
}

/** In the order in which they were taken; equal ones are judged once. */
function judgedSnapshots(folder: string, { snapshots }: SnapshotIndex): JudgedSnapshot[] {
  const known = new Map<string, boolean>();
  return snapshots.map(({ name, digest, sinceStartMs }) => {
    const admitted = known.getOrInsertComputed(digest, () => admit(join(folder, name)).admitted);
    return { name, digest, sinceStartMs, admitted };
  });
}

function notMeasured(reason: string): IterationsFile {
  return { formatVersion: 1, kind: "not-measured", reason };
}
