// The cluster in `pipeline doctor`: whether Slurm would take the jobs of a profile, and what a node has, found by
// a small job that goes the way of every stage.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { formatDuration } from "@mlrb/core/text/units";
import { readFormat } from "@mlrb/formats/read-format";
import { slurmNode } from "@mlrb/formats/stage/slurm-node";
import { newRunName } from "@mlrb/local/run/run-name";
import { beginWork, endWork, markElsewhere } from "@mlrb/local/stage/work-folders";
import { statePaths } from "@mlrb/local/store/state-folder";
import { type Check, missing, note, works } from "../gates/check.ts";
import type { JobsAlike } from "./jobs-alike.ts";
import { nodeChecks, type SubmitHost } from "./node-checks.ts";
import { privateStateChecks } from "./private-state.ts";
import { slurmProgram } from "./slurm-program.ts";

/** Importing it would start it. */
const slurmProbe = join(import.meta.dirname, "slurm-probe.ts");

export type ClusterPlace = {
  repository: string;
  /** The folder with `.mlrb/`. */
  root: string;
  here: Omit<SubmitHost, "clockMs">;
  env?: NodeJS.ProcessEnv;
  /** How long the job may wait for a node. */
  patienceMs?: number;
};

/** Of a host that can submit jobs. */
export async function clusterChecks(alike: JobsAlike[], place: ClusterPlace): Promise<Check[]> {
  if (alike.length === 0) return [];
  const checks = privateStateChecks(place.root);
  for (const jobs of alike) checks.push(...(await checksOf(jobs, place)));
  return checks;
}

async function checksOf(jobs: JobsAlike, place: ClusterPlace): Promise<Check[]> {
  const { partitions, trySubmission } = await import("@mlrb/slurm/try-submission");
  const name = `slurm ${jobs.slurm.partition ?? "(default partition)"}`;
  const { cpus, limits, memoryBytes } = jobs.most;
  const booked = { memoryBytes, gpus: jobs.gpus, slurm: jobs.slurm };
  const relay = jobs.attempts.length > 0 && ({ relay: true } as const);
  const refused = await trySubmission({ root: place.repository, cpus, limits, booked, ...relay }, place.env);
  if (refused) {
    const known = (await partitions(place.env)).join(", ");
    return [
      missing(
        name,
        `refuses the jobs of ${words(jobs.stages)}: ${refused.refusal} (they ask for ${refused.asked})`,
        `correct slurm: { … }, resources or limits in the profile; partitions: ${known}; sacctmgr show associations user=$USER lists accounts and QOS, scontrol show node lists features and GPUs`,
      ),
    ];
  }
  const checks = [works(name, `takes the jobs of ${words(jobs.stages)}`)];
  return [...checks, ...(await timeChecks(name, jobs, place)), ...(await onNode(jobs, place))];
}

async function timeChecks(name: string, jobs: JobsAlike, { env }: ClusterPlace): Promise<Check[]> {
  const { jobsInARow, partitionLimit } = await import("@mlrb/slurm/partition-limit");
  const limit = await partitionLimit(jobs.slurm.partition, env);
  const say = (found: string, help: string) => [note(`${name}: time`, found, help)];
  if (limit.kind !== "known")
    return say(
      `Slurm does not say the time limit of the partition: ${limit.detail}`,
      "run doctor again once Slurm answers",
    );
  const inARow = jobsInARow(jobs.attemptMs, limit.limitMs);
  if (inARow === 1) return [];
  return say(
    `ends jobs after ${formatDuration(limit.limitMs!)}: an attempt of ${words(jobs.attempts)} takes at least ${inARow} jobs in a row`,
    "its programs end with each job, and its agent is told; a partition with a longer limit spares that",
  );
}

/** What a job of this kind finds on its node. */
async function onNode(jobs: JobsAlike, place: ClusterPlace): Promise<Check[]> {
  const { repository, root, here, env = process.env, patienceMs = 60_000 } = place;
  const { SlurmExecutor } = await import("@mlrb/slurm/slurm-executor");
  const { state, work } = statePaths(root);
  const made = !existsSync(state);
  const run = newRunName();
  const own = beginWork(work, run); // if this process is killed, the next run cancels the job
  const executor = new SlurmExecutor({
    ...{ work, run, program: slurmProgram, isLive: () => true, take: () => false, env },
    times: { intervalMs: 1_000, lateMs: 20_000, graceMs: 2_000, patienceMs: 20_000 },
  });
  try {
    markElsewhere(own.path, "slurm");
    const slot = join(own.path, "slot");
    for (const part of ["in", "out", "tmp"]) mkdirSync(join(slot, part), { recursive: true });
    const from = Date.now();
    const name = "node's shared disk";
    const help = `jobs need a disk that this host and the nodes share: the repository and ${state} must have the same path on every node. Ask the administrator for a folder that all nodes mount, and clone there`;
    const job = executor.start(probe({ slot, repository, here, jobs, env }));
    let queued = true;
    void job.began?.then(() => {
      queued = false;
    });
    const over = new AbortController();
    const late = sleep(patienceMs, "late" as const, { signal: over.signal }).catch(() => "late" as const);
    const end = await Promise.race([job.ended, late]);
    over.abort();
    if (end === "late") {
      job.kill();
      await job.ended;
      return [
        queued
          ? waits(name, { slot, patienceMs })
          : missing(name, `a job did not end within ${formatDuration(patienceMs)}`, help),
      ];
    }
    const file = join(slot, "out/node.json");
    const text = end.kind === "succeeded" && existsSync(file) ? readFileSync(file, "utf8") : "";
    const reading = readFormat(slurmNode, text);
    if (reading.kind !== "ok") {
      const why = end.kind === "failed" ? end.detail : "it wrote nothing that this host sees";
      return [missing(name, `a small job failed: ${why}`, help)];
    }
    const clockMs = { from, to: Date.now() };
    return [
      works(name, `${reading.value.host} reads and writes ${state}`),
      ...nodeChecks(reading.value, jobs, { ...here, clockMs }),
    ];
  } finally {
    endWork(own);
    if (made) rmSync(state, { recursive: true, force: true });
  }
}

/** A job that did not begin in time says nothing of its node. */
function waits(name: string, { slot, patienceMs }: { slot: string; patienceMs: number }): Check {
  const log = existsSync(join(slot, "log")) ? readFileSync(join(slot, "log"), "utf8") : "";
  const why = /^mlrb: waits: (.*)$/m.exec(log)?.[1];
  const found = `a small job got no node within ${formatDuration(patienceMs)}${why === undefined ? "" : ` (${why})`}`;
  return note(name, found, "run doctor again when the partition is less busy");
}

type Probe = Pick<ClusterPlace, "repository" | "here"> & {
  slot: string;
  jobs: JobsAlike;
  env: NodeJS.ProcessEnv;
};

function probe({ slot, repository, here, jobs, env }: Probe): ExecutionRequest {
  const output = join(slot, "out/node.json");
  return {
    ...{ id: "doctor", key: "doctor", token: `mlrb-doctor:${process.pid}:`, root: repository, work: slot },
    run: {
      kind: "command",
      command: [
        ...[process.execPath, ...nodeFlags, slurmProbe, output, here.python?.path ?? "python3"],
        String(jobs.weakLimits),
      ],
    },
    env: { PATH: env.PATH ?? "", HOME: join(slot, "tmp"), TMPDIR: env.TMPDIR ?? "/tmp" },
    ...{ inputs: {}, outputs: {}, log: join(slot, "log"), reads: [], writes: [], cpus: 1, gpus: [] },
    limits: { timeMs: 60_000 },
    booked: { memoryBytes: 256 * 2 ** 20, gpus: jobs.gpus, slurm: jobs.slurm },
  };
}

function words(stages: string[]): string {
  const shown = stages.slice(0, 3).map((stage) => `"${stage}"`);
  return stages.length > 3 ? `${shown.join(", ")} and ${stages.length - 3} more stages` : shown.join(", ");
}
