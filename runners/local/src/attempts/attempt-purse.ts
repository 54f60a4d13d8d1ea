// Passes the cap and the prices of the command line to an attempt's harness through the attempt's folder. The cap
// is one file for all attempts of a run; their supervisors read the cap before each call and outlive the run.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { purseFile, readPurse, writeCap, writePurse } from "@mlrb/kit/attempts/purse";
import type { RunPurse } from "../run/run-request.ts";
import type { Workspace } from "../store/workspace.ts";

type Of = { purse?: RunPurse | undefined; run: string; workspace: Workspace };

/**
 * Puts an attempt under the cap and the prices of this run, also one that an earlier run began. Without a cap in
 * this run, the attempt keeps its own.
 */
export function handOverPurse(attempt: string, { purse, run, workspace }: Of): void {
  if (purse === undefined) return;
  const path = join(attempt, purseFile);
  const { runs, cap } = readPurse(path) ?? { runs: [], cap: null };
  const own = join(workspace.state.attempts, "caps", `${run}.jsonl`);
  const { maxDollars, prices } = purse;
  if (maxDollars !== undefined && !existsSync(own)) writeCap(own, maxDollars);
  writePurse(path, { runs: [{ run, prices }, ...runs], cap: maxDollars === undefined ? cap : own });
}
