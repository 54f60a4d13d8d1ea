// Keeps a successful attempt as a record, from its folder alone, so that any run can do so.

import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptEnd } from "@mlrb/formats/attempt/attempt-end";
import { type AttemptRecord, uncheckedOf } from "@mlrb/formats/attempt/attempt-record";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { costByLedger, heldMs } from "../attempts/attempt-cost.ts";
import { capLog } from "../stage/cap-log.ts";
import { missingOutput } from "../stage/missing-output.ts";
import { outputPaths } from "../stage/output-paths.ts";
import { ingestAll } from "../store/ingest-outputs.ts";
import type { Workspace } from "../store/workspace.ts";
import type { HeldRecord } from "./attempt-records.ts";
import { linkedBytes } from "./shared-files.ts";

export type Kept =
  | { kind: "kept"; outputs: Record<string, Artifact>; durationMs: number; record: HeldRecord }
  | { kind: "failed"; cause: "missing-output" | "machine"; detail: string };

type Ended = {
  /** The attempt's folder. */
  path: string;
  card: AttemptCard;
  end: AttemptEnd;
  /** The attempt's log file, for the record. */
  log: string;
  /** False once another run took the attempt over. */
  isHeld: () => boolean;
};

export async function keepRecord(
  ended: Ended,
  workspace: Pick<Workspace, "store" | "verified" | "attempts">,
): Promise<Kept> {
  const { path, card, end } = ended;
  const paths = outputPaths(path, card.gives);
  const missing = missingOutput(card.gives, paths);
  if (missing !== undefined) return { kind: "failed", cause: "missing-output", detail: missing };
  const durationMs = heldMs({ path, card }, end.durationMs); // the end has that of the last supervisor
  const cost = costByLedger(card, durationMs, paths.ledger);
  const handedOver = card.gives.map(({ name, kind }) => ({ name, kind, path: paths[name]! }));
  const linkBytes = linkedBytes(handedOver.reduce((sum, one) => sum + countFiles(one.path), 0));
  for (const one of handedOver) sealLarge(one.path, linkBytes);
  // the outputs stay in place until the record exists: a kill at any moment loses nothing
  const taken = await ingestAll(handedOver, workspace, { keep: true, linkBytes });
  if ("problem" in taken) {
    const detail = `output "${taken.name}" ${taken.problem}`;
    return { kind: "failed", cause: "missing-output", detail };
  }
  const { outputs } = taken;
  if (!ended.isHeld()) {
    const detail = "another run took the attempt over while this run was silent; run again to use its result";
    return { kind: "failed", cause: "machine", detail };
  }
  const { slot, axes, key, parts, given, harness, estimate, protocol, run, startedAt, executor } = card;
  const { result } = end;
  const { resumed, interventions } = ledgerIn(paths.ledger);
  const where = {
    ...(result.kind === "succeeded" && result.where),
    ...(resumed !== undefined && { resumed: String(resumed) }), // the step may have died before it said so
  };
  const record: AttemptRecord = {
    formatVersion: 1,
    slot,
    axes,
    attemptKey: key,
    parts,
    given,
    outputs: Object.fromEntries(card.gives.map(({ name, file }) => [name, { ...outputs[name]!, file }])),
    harness,
    cost,
    ...(estimate && { estimate }),
    ...(protocol !== undefined && { protocol }),
    ...(interventions && { interventions }),
    ...uncheckedOf(card),
    ran: {
      run,
      startedAt,
      durationMs,
      executor,
      host: hostname(),
      ...(Object.keys(where).length > 0 && { where }),
    },
  };
  capLog(ended.log); // the log of an attempt that ended while no run followed it
  const digest = workspace.attempts.put(record, ended.log);
  return { kind: "kept", outputs, durationMs, record: { digest, record } };
}

/** Empty without a ledger of an attempt. */
function ledgerIn(ledger: string | undefined): Partial<Ledger> {
  const read = ledger === undefined ? undefined : readLedger(ledger);
  return typeof read === "object" ? read : {};
}

/** Makes files read-only that are large enough for a hard link. Executable files are copied: an inode has one mode. */
function sealLarge(path: string, linkBytes: number): void {
  const stats = lstatSync(path);
  if (stats.isDirectory()) for (const name of readdirSync(path)) sealLarge(join(path, name), linkBytes);
  if (stats.isFile() && stats.size >= linkBytes && (stats.mode & 0o111) === 0) chmodSync(path, 0o444);
}

function countFiles(path: string): number {
  if (!lstatSync(path).isDirectory()) return 1;
  return readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}
