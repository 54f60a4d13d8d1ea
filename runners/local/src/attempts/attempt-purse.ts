// Passes the cap and the prices of the command line to an attempt's harness through the attempt's folder. The cap is
// one file for all attempts of a run; their supervisors read the cap before each call and outlive the run.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { purseFile, readPurse, writeCap, writePurse } from "@mlrb/kit/attempts/purse";
import type { RunPurse } from "../run/run-request.ts";
import type { Workspace } from "../store/workspace.ts";

type Of = { purse?: RunPurse | undefined; run: string; workspace: Workspace };

export function handOverPurse(attempt: string, { purse, run, workspace }: Of): void {
  if (purse === undefined) return;
  writePurse(join(attempt, purseFile), {
    runs: [{ run, prices: purse.prices }],
    cap: capOf({ purse, run, workspace }) ?? null,
  });
}

/**
 * Puts an attempt that an earlier run began under the cap and the prices of this run. Without a cap in this run, the
 * attempt keeps its own. An attempt whose program reads its purse once changes only the amount of its cap. Returns
 * false where this run has a cap that cannot be applied to the attempt.
 */
export function takeOverPurse(attempt: string, { purse, run, workspace }: Of): boolean {
  const path = join(attempt, purseFile);
  const before = readPurse(path);
  const isCapped = purse?.maxDollars !== undefined;
  if (purse === undefined || before === undefined) return !isCapped;
  if (before.runs.length > 0) {
    const cap = capOf({ purse, run, workspace }) ?? before.cap;
    writePurse(path, { runs: [{ run, prices: purse.prices }, ...before.runs], cap });
    return true;
  }
  if (isCapped && before.cap !== null) writeCap(before.cap, purse.maxDollars!);
  return !isCapped || before.cap !== null;
}

function capOf({ purse, run, workspace }: Of): string | undefined {
  if (purse?.maxDollars === undefined) return undefined;
  const path = join(workspace.state.attempts, "caps", `${run}.jsonl`);
  if (!existsSync(path)) writeCap(path, purse.maxDollars);
  return path;
}
