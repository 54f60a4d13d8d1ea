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

/** What only a stage that pays for answers gets. No cleanup removes them, and no key holds the prices. */
export function paidAnswers(
  { stage }: Instance,
  { repository, state }: Pick<Workspace, "repository" | "state">,
) {
  if (!stage.spec.paidAnswers) return undefined;
  const answers = join(state.state, "answers");
  return {
    reads: [join(repository, "runners/agents/prices.yaml")],
    writes: [answers, join(state.attempts, "caps")],
    variables: (work: string) => ({ MLRB_ANSWERS: answers, MLRB_PURSE: join(work, purseFile) }),
  };
}

/** A work folder may hold the purse of an earlier stage. */
export function handOverAnswersPurse({ stage }: Instance, { work, ...of }: Of & { work: string }): void {
  if (!stage.spec.paidAnswers) return;
  rmSync(join(work, purseFile), { force: true });
  handOverPurse(work, of);
}
