// How a stage is submitted: the arguments of `sbatch`.
// Pure.
import type { ExecutionRequest } from "@mlrb/core/ports/executor";

/**
 * Time and memory for the programs that carry the stage out on the node: Node, and the end of the process tree. An
 * attempt has three: the job's program, its step and the relay. Their stand-ins held 94, 143 and 71 MiB.
 */
const own = { minutes: 2, mebibytes: 256, attemptMebibytes: 512 };
/** The most that a pull of the stage's image takes on the node. */
const pullMinutes = 60;

export type Submission = {
  request: Pick<ExecutionRequest, "root" | "cpus" | "limits" | "booked" | "walls" | "relay" | "image">;
  /** The whole time of the job, in place of one by the stage's limit. */
  jobMs?: number | undefined;
  /** The name of the job: its run's. */
  run: string;
  /** Begins with the unique name of this job. */
  comment: string;
  /** Takes what Slurm says about the job. */
  output: string;
};

export function sbatchArguments(submission: Submission): string[] {
  const { request, run, comment, output } = submission;
  const { root, cpus, limits, booked, walls, relay } = request;
  const ownMebibytes = relay ? own.attemptMebibytes : own.mebibytes;
  const { partition, account, qos, constraint, gres = "gpu" } = booked?.slurm ?? {};
  // walls hold a limit of their own, which may be above the booked amount
  const limitBytes = limits.memoryBytes ?? walls?.limits.memoryBytes ?? 0;
  const memoryBytes = Math.max(booked?.memoryBytes ?? 0, limitBytes);
  const flag = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...["--parsable", "--no-requeue", "--kill-on-invalid-dep=yes"],
    "--propagate=NONE", // limits of this host's shells, e.g. of open files or CPU time, are not the node's
    ...[`--job-name=${run}`, `--comment=${comment}`],
    ...[`--output=${output}`, "--open-mode=append", "--input=/dev/null", `--chdir=${root}`],
    // the stage has its own variables; a named one keeps Slurm from starting a login shell for the user's
    "--export=MLRB_EXECUTOR",
    ...["--nodes=1", "--ntasks=1", `--cpus-per-task=${Math.max(1, Math.ceil(cpus))}`],
    ...flag("mem", memoryBytes > 0 ? `${Math.ceil(memoryBytes / 2 ** 20) + ownMebibytes}M` : undefined),
    // the job holds the stage's limit by itself; Slurm's is for a job that does not
    ...flag("time", minutesOf(submission)),
    ...flag("gres", booked?.gpus ? `${gres}:${booked.gpus}` : undefined),
    ...flag("partition", partition),
    ...flag("account", account),
    ...flag("qos", qos),
    ...flag("constraint", constraint),
  ];
}

function minutesOf({ jobMs, request: { limits, image } }: Submission): number | undefined {
  if (jobMs !== undefined) return Math.max(1, Math.floor(jobMs / 60_000));
  if (limits.timeMs === undefined) return undefined;
  const before = image === undefined ? 0 : pullMinutes;
  return Math.ceil(limits.timeMs / 60_000) + own.minutes + before;
}

/** The flags among `args` by which Slurm chooses nodes or refuses a job. */
export function askedOf(args: readonly string[]): string {
  return args
    .filter((one) => /^--(cpus-per-task|mem|time|gres|partition|account|qos|constraint)=/.test(one))
    .join(" ");
}
