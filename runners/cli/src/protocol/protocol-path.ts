// protocols/PIPELINE/PROFILE.json under the root: a plain file that its author commits, because a pushed commit dates it
// for others. It is apart from results/, which runs write and Git ignores.
import { join, relative } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { shellWord } from "@mlrb/core/ports/command-line";
import { resultsFolder } from "@mlrb/local/run/publish-results";

export type PlanName = Pick<Plan, "pipeline" | "profile" | "selection">;

/** From the root. */
export function protocolPath(plan: PlanName): string {
  return join("protocols", `${relative("results", resultsFolder(plan))}.json`);
}

/** The protocol of the plan's own selection, then that of the whole plan: `--set` must not hide a protocol. */
export function protocolPaths(plan: PlanName): string[] {
  return [...new Set([protocolPath(plan), protocolPath({ ...plan, selection: "" })])];
}

/** The command that freezes the protocol of a plan. */
export function freezeCommand(plan: PlanName): string {
  return `pnpm pipeline protocol freeze ${planWords(plan)}`;
}

/** The command whose report is compared with the protocol of a plan. */
export function reportCommand(plan: PlanName): string {
  return `pnpm pipeline report ${planWords(plan)}`;
}

function planWords({ pipeline, profile, selection }: PlanName): string {
  const set = selection === "" ? "" : ` --set ${shellWord(selection.replaceAll("+", ","))}`;
  return `${pipeline} --profile ${profile}${set}`;
}
