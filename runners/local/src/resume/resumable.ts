// Whether an attempt whose supervisor or host died can continue, by the files that are left: a conversation with a
// model is on disk after each call, and a person comes back. A program without model calls has nothing to continue from.
import { join } from "node:path";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import { type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { readFormat } from "@mlrb/formats/read-format";
import { hasRestorePoint, restorePointsFolder } from "@mlrb/kit/attempts/left-restore-point";
import { leftSandbox } from "@mlrb/kit/attempts/left-sandbox";
import { readFrom } from "@mlrb/kit/files/read-from";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { outputPaths } from "../stage/output-paths.ts";
import { ifReadable } from "../store/if-readable.ts";

/** A longer first line would be of no attempt that this program began. */
const firstLineMax = 1 << 20;

export function isResumable(path: string, card: Pick<AttemptCard, "gives">): boolean {
  const { ledger } = outputPaths(path, card.gives);
  if (ledger !== undefined && isSealed(ledger)) return false;
  const start = attemptStart(path, card);
  if (!start) return false;
  const { kind, gateway = [], membersCall } = start;
  if (kind !== "llm" && kind !== "person" && gateway.length === 0 && !membersCall) return false;
  return leftSandbox(path) !== undefined || hasRestorePoint(join(path, restorePointsFolder));
}

/** The first event of its trajectory; undefined if there is none yet. */
function attemptStart(
  path: string,
  { gives }: Pick<AttemptCard, "gives">,
): Extract<TrajectoryEvent, { event: "start" }> | undefined {
  const { trajectory } = outputPaths(path, gives);
  const start = trajectory && ifReadable(() => firstLine(trajectory));
  const reading = start === undefined ? undefined : readFormat(trajectoryEvent, start);
  return reading?.kind === "ok" && reading.value.event === "start" ? reading.value : undefined;
}

/** The ledger is written last, so an attempt with one has ended. An interrupted attempt may continue. */
export function isSealed(ledger: string): boolean {
  const read = readLedger(ledger);
  return typeof read === "object" && read.ended !== "interrupted";
}

function firstLine(path: string): string | undefined {
  const bytes = readFrom(path, 0, firstLineMax);
  const end = bytes?.indexOf(10) ?? -1;
  return end < 0 ? undefined : bytes?.toString("utf8", 0, end);
}
