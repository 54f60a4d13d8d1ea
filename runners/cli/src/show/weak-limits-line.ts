import type { Plan } from "@mlrb/core/plan/plan";

/** Says that the plan's profile allows weak limits; empty if it does not, or if nothing untrusted runs. */
export function weakLimitsLine({ weakLimits, profile, instances }: Plan): string {
  if (!weakLimits || !instances.some(({ stage }) => stage.untrusted)) return "";
  return `weak limits: profile ${profile} lets untrusted agents run in bubblewrap where no kernel limit holds their memory`;
}
