// Passes the cap and the prices of the command line to an attempt's harness through the attempt's folder, and to a
// stage that pays for a model's answers through its work folder. The cap is one file for all of a run; supervisors
// read the cap before each call and outlive the run.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
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

type At = Of & { work: string };

/** What only a stage that pays for answers reads and writes. No key holds the prices: the answers hold what was paid. */
export function answerFolders(
  { stage }: Instance,
  { repository, state }: Pick<Workspace, "repository" | "state">,
) {
  if (!stage.spec.paidAnswers) return { reads: [], writes: [] };
  const prices = join(repository, "runners/agents/prices.yaml");
  return { reads: [prices], writes: [answersOf(state), join(state.attempts, "caps")] };
}

export function answerVariables(
  { stage }: Instance,
  { workspace, work }: Pick<At, "workspace" | "work">,
): Record<string, string> {
  if (!stage.spec.paidAnswers) return {};
  return { MLRB_ANSWERS: answersOf(workspace.state), MLRB_PURSE: join(work, purseFile) };
}

/** A work folder may hold the purse of an earlier run. */
export function handOverAnswersPurse({ stage }: Instance, { work, ...of }: At): void {
  if (!stage.spec.paidAnswers) return;
  rmSync(join(work, purseFile), { force: true });
  handOverPurse(work, of);
}

/** Paid answers outlive every run, and no cleanup removes them. */
function answersOf({ state }: Workspace["state"]): string {
  return join(state, "answers");
}
