// What the jobs of a plan need of their nodes.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { SlurmSettings } from "@mlrb/formats/declared/pipeline";
import { canonicalJson } from "@mlrb/kit/json-file";
import { attemptMs } from "./attempt-time.ts";

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

/** The jobs of a plan, by their settings. */
export function jobsAlike({ instances, weakLimits }: Plan): JobsAlike[] {
  const jobs = instances.filter(({ execution }) => execution.executor === "slurm");
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
        cpus: Math.max(...own.map(({ execution }) => execution.resources.cpus)),
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
