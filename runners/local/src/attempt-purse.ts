// What the command line said of money, handed to an attempt's harness through the attempt's folder. The cap is one
// file for all attempts that a run starts; their supervisors read it before each call and outlive the run.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { type Purse, purseFile, readPurse, writeCap } from "@mlrb/kit/purse";
import type { RunPurse } from "./run-request.ts";
import type { Workspace } from "./workspace.ts";

type Of = { purse: RunPurse | undefined; run: string; workspace: Workspace };

export function handOverPurse(attempt: string, { purse, run, workspace }: Of): void {
  if (purse === undefined) return;
  const { prices, maxDollars } = purse;
  const cap = maxDollars === undefined ? null : join(workspace.state.attempts, "caps", `${run}.jsonl`);
  if (cap !== null && !existsSync(cap)) writeCap(cap, maxDollars!);
  const handed: Purse = { formatVersion: 1, prices, cap };
  writeWhole(join(attempt, purseFile), canonicalJson(handed));
}

/** An attempt that an earlier run began goes on under that run's cap: this run's `--max-cost` takes its place. */
export function moveCap(attempt: string, { purse }: Pick<Of, "purse">): void {
  const cap = readPurse(join(attempt, purseFile))?.cap;
  if (typeof cap === "string" && purse?.maxDollars !== undefined) writeCap(cap, purse.maxDollars);
}
