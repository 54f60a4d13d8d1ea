// Refuses a run whose stages would be jobs of Slurm if Slurm cannot take them, before anything starts.

import { modelAddresses } from "@mlrb/agents/model/model-addresses";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { RunPurse } from "@mlrb/local/run/run-request";
import type { Request } from "../request/request.ts";
import { type Gate, startedIn } from "./gate.ts";

export async function slurmGate(
  request: Request,
  gate: Gate,
  purse: RunPurse,
): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  const isJob = (index: number) => plan.instances[index]!.execution.executor === "slurm";
  if (!selected.some(isJob)) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  const jobs = startedIn(previews).filter(({ index }) => isJob(index));
  if (jobs.length === 0) return undefined;
  const unfit = unfitForSlurm(jobs.map(({ index }) => plan.instances[index]!));
  if (unfit) return unfit;
  const started = startedIn(previews).map(({ index }) => plan.instances[index]!);
  const uncapped = purse.maxDollars !== undefined && capsNothing(started);
  if (uncapped) return uncapped;
  const { slurmTrouble } = await import("@mlrb/slurm/slurm-trouble");
  const trouble = await slurmTrouble();
  if (trouble === undefined) return undefined;
  const names = [...new Set(jobs.map(({ index }) => `"${plan.instances[index]!.stage.name}"`))];
  const shown = names.length > 3 ? [...names.slice(0, 3), `${names.length - 3} more stages`] : names;
  return {
    code: "no-slurm",
    message: `${shown.join(", ")} ${names.length === 1 ? "runs" : "run"} as Slurm jobs; ${trouble}`,
    help: "run this where sinfo lists the partitions, or choose a profile without executor: slurm",
  };
}

/** Attempts under one cap look at each other's processes and share a file, which several hosts cannot. */
export function capsNothing(started: Instance[]): Diagnostic | undefined {
  const attempts = started.filter(({ stage }) => stage.durable);
  const hasJobs = attempts.some(({ execution }) => execution.executor === "slurm");
  if (!hasJobs || attempts.length < 2) return undefined;
  return {
    code: "cap-on-slurm",
    message: "--max-cost cannot hold for several attempts of which some are Slurm jobs",
    help: "set a budget of dollars for each attempt, or start them one at a time with --only",
  };
}

/** The problem of instances that no job can carry out as the other executors do. */
export function unfitForSlurm(jobs: Instance[]): Diagnostic | undefined {
  for (const job of jobs) {
    const why = whyUnfit(job);
    if (why === undefined) continue;
    const { name } = job.stage;
    const executor = job.execution.image === undefined ? "local" : "docker";
    return {
      code: "not-on-slurm",
      message: `"${name}" ${why}: it cannot be a Slurm job`,
      help: `in the profile: stages: { ${name}: { executor: ${executor} } }`,
    };
  }
  return undefined;
}

function whyUnfit({ stage, action, execution }: Instance): string | undefined {
  if (execution.image !== undefined)
    return `has an image (${execution.image}), and a node shows its own programs`;
  const { secrets, params } = action;
  const relayed = stage.untrusted ? modelAddresses(params).map(({ secret }) => secret) : [];
  const others = secrets.filter((name) => !relayed.includes(name));
  if (others.length > 0)
    return stage.untrusted
      ? `gets secrets that are the key of no model of its agent's preset (${others.join(", ")}), and only such keys stay on this host`
      : `gets secrets (${others.join(", ")}), which would be written to a shared disk`;
  if (action.hostSensitive && execution.resources.gpus > 0)
    return "measures the speed of a GPU, and its key is made on this host";
  return undefined;
}
