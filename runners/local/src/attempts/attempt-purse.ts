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
 * attempt keeps its own.
 */
export function takeOverPurse(attempt: string, { purse, run, workspace }: Of): void {
  if (purse === undefined) return;
  const path = join(attempt, purseFile);
  const { runs, cap } = readPurse(path) ?? { runs: [], cap: null };
  writePurse(path, {
    runs: [{ run, prices: purse.prices }, ...runs],
    cap: capOf({ purse, run, workspace }) ?? cap,
  });
}

function capOf({ purse, run, workspace }: Of): string | undefined {
  if (purse?.maxDollars === undefined) return undefined;
  const path = join(workspace.state.attempts, "caps", `${run}.jsonl`);
  if (!existsSync(path)) writeCap(path, purse.maxDollars);
  return path;
}
