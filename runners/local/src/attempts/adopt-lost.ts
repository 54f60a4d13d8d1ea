// Makes records of quarantined attempts that had ended normally, e.g. on a full disk.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AttemptEnd } from "@mlrb/formats/attempt/attempt-end";
import { tryLease } from "../leases/lease.ts";
import { keepRecord } from "../records/keep-record.ts";
import type { Workspace } from "../store/workspace.ts";
import { heldMs } from "./attempt-cost.ts";
import { attemptEnd } from "./attempt-folders.ts";
import { completeAttempt } from "./complete-attempt.ts";
import { type LostAttempt, lostAttempts } from "./lost-attempts.ts";
import { quarantineIn } from "./quarantine.ts";
import { removeAttempt } from "./remove-attempt.ts";

/** `why`: the reason why the attempt does not count as complete. */
type Adoption = { kind: "kept"; record: string } | { kind: "refused"; why: string };

export type Adopted = { attempt: LostAttempt } & Adoption;

/** Adopts the lost attempts that `which` selects. */
export async function adoptLost(
  workspace: Workspace,
  which: (attempt: LostAttempt) => boolean,
): Promise<Adopted[]> {
  const adopted: Adopted[] = [];
  for (const attempt of lostAttempts(workspace.state).filter(which)) {
    adopted.push({ attempt, ...(await adoptOne(attempt, workspace)) });
  }
  return adopted;
}

async function adoptOne({ path, card }: LostAttempt, workspace: Workspace): Promise<Adoption> {
  const ended = attemptEnd(path);
  const complete = ended?.result.kind === "succeeded" ? "" : await completeAttempt({ path, card });
  if (complete !== "" && typeof complete === "string") return { kind: "refused", why: complete };
  const lease = tryLease(workspace.state.leases, card.key);
  if (!("release" in lease)) return { kind: "refused", why: "a run is making this attempt now" };
  try {
    if (!existsSync(path)) return { kind: "refused", why: "another process was quicker" };
    const durationMs = heldMs({ path, card }, ended?.durationMs);
    const end: AttemptEnd = { formatVersion: 1, result: { kind: "succeeded" }, durationMs };
    // without a cause nothing says that its log was redacted
    const isClean = card.secrets.length === 0 || quarantineIn(path, workspace.state.root) !== undefined;
    const log = join(path, isClean ? "log" : "no-log");
    const leftOut = `the program that lost it had not redacted ${card.secrets.join(", ")}`;
    if (!isClean) writeFileSync(log, `mlrb: the log of this attempt is left out: ${leftOut}\n`);
    const kept = await keepRecord({ path, card, end, log, isHeld: lease.isHeld }, workspace);
    if (kept.kind === "failed") return { kind: "refused", why: kept.detail };
    await removeAttempt(path);
    return { kind: "kept", record: kept.record.digest };
  } finally {
    lease.release();
  }
}
