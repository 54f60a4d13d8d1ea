// The commands about a protocol, as they are shown.
import { shellWord } from "@mlrb/core/ports/command-line";
import type { PlanName } from "@mlrb/local/attempts/protocol-in-force";

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
