// Stages that would be jobs of Slurm and that Slurm cannot take.
import { modelAddresses } from "@mlrb/agents/model/agent-models";
import type { Instance } from "@mlrb/core/plan/plan";
import { type Check, missing } from "./check.ts";
import { type Asked, quoted } from "./gate.ts";

export async function slurmGate({ starts, purse, host }: Asked): Promise<Check[]> {
  const jobs = starts.filter(isJob);
  if (jobs.length === 0) return [];
  const unfit = unfitForSlurm(jobs) ?? (purse.maxDollars !== undefined ? capsNothing(starts) : undefined);
  if (unfit) return [unfit];
  const trouble = await host.slurmTrouble();
  if (trouble === undefined) return [];
  const names = new Set(jobs.map(({ stage }) => stage.name));
  return [
    missing(
      "slurm",
      `${quoted(names)} ${names.size === 1 ? "runs" : "run"} as Slurm jobs; ${trouble}`,
      "run this where sinfo lists the partitions, or choose a profile without executor: slurm (docs/machines.md)",
      { code: "no-slurm" },
    ),
  ];
}

function isJob({ execution }: Instance): boolean {
  return execution.executor === "slurm";
}

/** Attempts under one cap look at each other's processes and share a file, which several hosts cannot. */
export function capsNothing(started: Instance[]): Check | undefined {
  const attempts = started.filter(({ stage }) => stage.durable);
  if (!attempts.some(isJob) || attempts.length < 2) return undefined;
  return missing(
    "slurm",
    "--max-cost cannot hold for several attempts of which some are Slurm jobs",
    "set a budget of dollars for each attempt, or start them one at a time with --only",
    { code: "cap-on-slurm" },
  );
}

/** The problem of instances that no job can carry out as the other executors do. */
export function unfitForSlurm(jobs: Instance[]): Check | undefined {
  for (const job of jobs) {
    const why = whyUnfit(job);
    if (why === undefined) continue;
    const { name } = job.stage;
    const executor = job.execution.image === undefined ? "local" : "docker";
    return missing(
      "slurm",
      `"${name}" ${why}: it cannot be a Slurm job`,
      `in the profile: stages: { ${name}: { executor: ${executor} } }`,
      { code: "not-on-slurm" },
    );
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
