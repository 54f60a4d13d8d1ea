// The ledger of an attempt from what the supervisor saw. Pure.
import type { SnapshotResult } from "@mlrb/core/sandbox";
import type { Ledger } from "@mlrb/kit/rules/ledger";
import { treeDigest } from "./copy-out.ts";
import type { Ending } from "./watch-program.ts";

export type Seen = {
  budgetMs: number;
  wallMs: number;
  /** undefined: there was nothing to run. */
  ending: Ending | undefined;
  final: SnapshotResult;
  trajectory: Ledger["trajectory"];
  gpus: number;
};

export function attemptLedger({ budgetMs, wallMs, ending, final, trajectory, gpus }: Seen): Ledger {
  return {
    formatVersion: 1,
    budget: { wallMs: budgetMs },
    wallMs,
    workingMs: wallMs,
    tokens: null,
    dollars: null,
    gpuHours: (gpus * wallMs) / 3_600_000,
    ended: endedAs(ending),
    exit: exitOf(ending),
    ...overOf(ending),
    submission: submissionOf(final),
    trajectory,
  };
}

export function endedAs(ending: Ending | undefined): Ledger["ended"] {
  if (ending?.kind === "time-limit") return "time-limit";
  if (ending === undefined || (ending.kind === "exited" && ending.code === 0)) return "finished";
  return "agent-error";
}

function exitOf(ending: Ending | undefined): Ledger["exit"] {
  if (ending?.kind === "exited") return { code: ending.code };
  return ending?.kind === "signalled" ? { signal: ending.signal } : null;
}

function overOf(ending: Ending | undefined): Pick<Ledger, "over"> {
  return ending && "over" in ending && ending.over ? { over: ending.over } : {};
}

function submissionOf(final: SnapshotResult): Ledger["submission"] {
  if (final.kind === "taken") {
    const { digest, files, bytes, leftOut } = final.tree;
    return { digest, files: files.length, bytes, leftOut, overLimits: null };
  }
  const overLimits = final.kind === "over-limits" ? final.detail : null;
  return { digest: treeDigest([]), files: 0, bytes: 0, leftOut: [], overLimits };
}
