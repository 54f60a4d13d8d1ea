// What the jobs of a plan need of their nodes.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { canonicalJson } from "@mlrb/kit/json-file";
import { attemptMs } from "./attempt-time.ts";

/** The jobs of a profile with the same `slurm:`. */
export type JobsAlike = ReturnType<typeof jobsAlike>[number];

/** What they need of their nodes. */
export type NodeNeeds = Omit<JobsAlike, "slurm" | "stages" | "attemptMs" | "most">;

/** The jobs of a plan, by their settings. */
export function jobsAlike({ instances, weakLimits }: Plan) {
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
      /** Of each job. */
      gpus: own[0]!.execution.resources.gpus,
      stages: stages(own),
      /** The time of the longest attempt among them, which may take several jobs; 0 without one. */
      attemptMs: Math.max(0, ...own.map((one) => (one.stage.untrusted && attemptMs(one)) || 0)),
      /** The most that one of the stages asks for; time without attempts'. */
      most: {
        cpus: Math.max(...own.map(({ execution }) => execution.resources.cpus)),
        memoryBytes: Math.max(...memory),
        limits: { ...(times.length > 0 && { timeMs: Math.max(...times) }) },
      },
      python: own.some(({ action }) => action.run.kind === "python"),
      /** Stages whose processes must not reach the network. */
      offline: stages(own.filter(({ execution }) => execution.network === "none")),
      /** Stages that open what agents made. */
      walled: stages(own.filter((one) => one.stage.spec.opens !== undefined)),
      /** Stages with an image, in which no job runs. */
      contained: stages(own.filter(({ execution }) => execution.image !== undefined)),
      /** Stages whose agents need a sandbox there. */
      attempts: stages(own.filter(({ stage }) => stage.untrusted)),
      /** Whether a person allowed a memory limit of that sandbox that is only polled. */
      weakLimits,
    };
  });
}
