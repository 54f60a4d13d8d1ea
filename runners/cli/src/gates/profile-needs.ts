// What each profile of a pipeline needs of a machine, from its plan.

import { loadPlan, type PlanRequest } from "@mlrb/core/plan/load-plan";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { SlurmSettings } from "@mlrb/formats/declared/pipeline";
import { canonicalJson } from "@mlrb/kit/json-file";
import { usesGpusHere } from "@mlrb/local/leases/gpu-inventory";
import { attemptMs } from "../cluster/attempt-time.ts";
import { downloadedBy } from "./source-gate.ts";

export type ProfileNeeds =
  | { profile: string; isDefault: boolean; problems: Diagnostic[] }
  | {
      profile: string;
      isDefault: boolean;
      instances: number;
      /** The largest request of a stage instance on this host, with its stage; 0 and "" without one. */
      gpus: Most;
      cpus: Most;
      memoryBytes: Most;
      python: boolean;
      /** Stages whose processes must not reach the network. */
      offline: string[];
      /** Stages that run in containers. */
      contained: string[];
      /** Its stages on a cluster, by their settings. */
      jobs: JobsAlike[];
      /** Variables that its stages receive if they are set. */
      secrets: Secret[];
      agents: string[];
      /** The sources that it downloads. */
      sources: string[];
      /** Instances that must succeed on this host before others start. */
      checks: string[];
    };

/** What the jobs of a profile with the same `slurm:` need of their nodes. */
export type NodeNeeds = {
  python: boolean;
  /** Of each job. */
  gpus: number;
  /** Stages whose processes must not reach the network. */
  offline: string[];
  /** Stages that open what agents made. */
  walled: string[];
  /** Stages with an image, in which no job runs. */
  contained: string[];
  /** Stages whose agents need a sandbox there. */
  attempts: string[];
  /** Whether a person allowed a memory limit of that sandbox that is only polled. */
  weakLimits: boolean;
};

export type JobsAlike = NodeNeeds & {
  slurm: SlurmSettings;
  stages: string[];
  /** The time of the longest attempt among them, which may take several jobs; 0 without one. */
  attemptMs: number;
  /** The most that one of the stages asks for; time without attempts'. */
  most: Pick<ExecutionRequest, "cpus" | "limits"> & { memoryBytes: number };
};

type Secret = {
  name: string;
  stages: string[];
  /** Whether a stage that receives it calls the provider that the variable is named after. */
  needed: boolean;
};

type Most = { amount: number; stage: string };

/**
 * Of every profile, the default one first; of one profile where `asked` names it, or selects values.
 * `executors`: the names of this program's executors.
 */
export function profileNeeds(
  asked: PlanRequest,
  sources: Sources,
  executors: string[],
): ProfileNeeds[] | Diagnostic[] {
  const first = loadPlan(asked, sources, executors);
  if ("problems" in first) return first.problems;
  const isOne = asked.profile !== undefined || Object.keys(asked.set ?? {}).length > 0;
  if (isOne) return [{ isDefault: asked.profile === undefined, ...needsOf(first.plan) }];
  const chosen = first.plan.profile;
  const names = [chosen, ...first.plan.profiles.filter((name) => name !== chosen)];
  return names.map((profile) => {
    const isDefault = profile === chosen;
    const result = isDefault ? first : loadPlan({ ...asked, profile }, sources, executors);
    return "problems" in result ? { profile, isDefault, ...result } : { isDefault, ...needsOf(result.plan) };
  });
}

function needsOf(plan: Plan): Omit<Extract<ProfileNeeds, { instances: number }>, "isDefault"> {
  const here = plan.instances.filter(runsHere);
  const stages = (some: Instance[]) => [...new Set(some.map(({ stage }) => stage.name))];
  const secrets = [...new Set(plan.instances.flatMap(({ action }) => action.secrets))].sort();
  return {
    profile: plan.profile,
    instances: plan.instances.length,
    gpus: most(plan.instances.filter(usesGpusHere), ({ resources }) => resources.gpus),
    cpus: most(here, ({ resources }) => resources.cpus),
    memoryBytes: most(here, ({ resources }) => resources.memoryBytes),
    python: here.some(({ stage }) => stage.name === environmentStage),
    offline: stages(
      here.filter(({ execution }) => execution.executor === "local" && execution.network === "none"),
    ),
    agents: [...new Set(plan.instances.flatMap(({ axes }) => axes.agent ?? []).map(String))].sort(),
    sources: [...new Set(plan.instances.flatMap((one) => downloadedBy(one) ?? []))].sort(),
    checks: [...new Set(plan.instances.flatMap(({ checks = [] }) => checks))].map(
      (index) => plan.instances[index]!.id,
    ),
    jobs: jobsOf(
      plan.instances.filter(({ execution }) => execution.executor === "slurm"),
      plan.weakLimits,
    ),
    contained: stages(here.filter(({ execution }) => execution.executor === "docker")),
    secrets: secrets.map((name) => {
      const handed = plan.instances.filter(({ action }) => action.secrets.includes(name));
      return {
        name,
        stages: stages(handed),
        needed: handed.some((one) => providersOf(one).some(isNamedAfter(name))),
      };
    }),
  };
}

function jobsOf(jobs: Instance[], weakLimits: boolean): JobsAlike[] {
  const stages = (some: Instance[]) => [...new Set(some.map(({ stage }) => stage.name))];
  const alike = Map.groupBy(jobs, ({ execution }) => {
    const { slurm = {}, resources } = execution;
    return canonicalJson({ slurm, gpus: resources.gpus });
  });
  return [...alike.values()].map((own) => {
    const limits = own.filter(({ stage }) => !stage.untrusted).map(({ execution }) => execution.limits);
    const memory = own.map(
      ({
        execution: {
          resources,
          limits: { memoryBytes = 0 },
        },
      }) => Math.max(resources.memoryBytes, memoryBytes),
    );
    const times = limits.flatMap(({ timeMs }) => timeMs ?? []);
    return {
      slurm: own[0]!.execution.slurm ?? {},
      gpus: own[0]!.execution.resources.gpus,
      stages: stages(own),
      attemptMs: Math.max(0, ...own.map((one) => (one.stage.untrusted && attemptMs(one)) || 0)),
      most: {
        cpus: most(own, ({ resources }) => resources.cpus).amount,
        memoryBytes: Math.max(...memory),
        limits: times.length > 0 ? { timeMs: Math.max(...times) } : {},
      },
      python: own.some(({ action }) => action.run.kind === "python"),
      offline: stages(own.filter(({ execution }) => execution.network === "none")),
      walled: stages(own.filter((one) => one.stage.spec.opens !== undefined)),
      contained: stages(own.filter(({ execution }) => execution.image !== undefined)),
      attempts: stages(own.filter(({ stage }) => stage.untrusted)),
      weakLimits,
    };
  });
}

/** The providers that an instance calls, from the pools that it uses: `api:NAME`. */
function providersOf({ execution }: Instance): string[] {
  return Object.entries(execution.resources.pools)
    .filter(([pool, amount]) => pool.startsWith("api:") && amount > 0)
    .map(([pool]) => pool.slice("api:".length));
}

/** `OPENAI_API_KEY` is named after `openai`. */
function isNamedAfter(secret: string): (provider: string) => boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return (provider) => plain(provider) !== "" && plain(secret).startsWith(plain(provider));
}

function most(instances: Instance[], amountOf: (execution: Instance["execution"]) => number): Most {
  let found: Most = { amount: 0, stage: "" };
  for (const { execution, stage } of instances) {
    const amount = amountOf(execution);
    if (amount > found.amount) found = { amount, stage: stage.name };
  }
  return found;
}
