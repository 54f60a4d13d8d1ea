// What each profile of a pipeline needs of a machine, by its plan.
import type { Diagnostic } from "@mlrb/core/diagnostic";
import { loadPlan } from "@mlrb/core/load-plan";
import type { Sources } from "@mlrb/core/manifest";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan";

export type ProfileNeeds =
  | { profile: string; isDefault: boolean; problems: Diagnostic[] }
  | {
      profile: string;
      isDefault: boolean;
      instances: number;
      /** The most that one stage instance here wants, with the stage that wants it; 0 and none otherwise. */
      gpus: Most;
      cpus: Most;
      memoryBytes: Most;
      python: boolean;
      /** Stages whose processes must not reach the network. */
      offline: string[];
      /** Names of what its stages are handed, with the stages. */
      secrets: { name: string; stages: string[] }[];
    };

export type Most = { amount: number; stage: string };

/** The default one first. `executors` are the names that this program can send stages to. */
export function profileNeeds(
  file: string,
  sources: Sources,
  executors: string[],
): ProfileNeeds[] | Diagnostic[] {
  const first = loadPlan({ file }, sources, executors);
  if ("problems" in first) return first.problems;
  const chosen = first.plan.profile;
  const names = [chosen, ...first.plan.profiles.filter((name) => name !== chosen)];
  return names.map((profile) => {
    const isDefault = profile === chosen;
    const result = isDefault ? first : loadPlan({ file, profile }, sources, executors);
    return "problems" in result ? { profile, isDefault, ...result } : { isDefault, ...needsOf(result.plan) };
  });
}

function needsOf(plan: Plan): Omit<Extract<ProfileNeeds, { instances: number }>, "isDefault"> {
  const here = plan.instances.filter(({ execution }) => execution.executor === "local");
  const stages = (some: Instance[]) => [...new Set(some.map(({ stage }) => stage.name))];
  const secrets = [...new Set(plan.instances.flatMap(({ action }) => action.secrets))].sort();
  return {
    profile: plan.profile,
    instances: plan.instances.length,
    gpus: most(here, ({ resources }) => resources.gpus),
    cpus: most(here, ({ resources }) => resources.cpus),
    memoryBytes: most(here, ({ resources }) => resources.memoryBytes),
    python: here.some(({ stage }) => stage.name === environmentStage),
    offline: stages(here.filter(({ execution }) => execution.network === "none")),
    secrets: secrets.map((name) => ({
      name,
      stages: stages(plan.instances.filter(({ action }) => action.secrets.includes(name))),
    })),
  };
}

function most(instances: Instance[], amountOf: (execution: Instance["execution"]) => number): Most {
  let found: Most = { amount: 0, stage: "" };
  for (const { execution, stage } of instances) {
    const amount = amountOf(execution);
    if (amount > found.amount) found = { amount, stage: stage.name };
  }
  return found;
}
