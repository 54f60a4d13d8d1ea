// 200 stages as jobs of a Slurm of two nodes on loopback: how often Slurm is asked, how long a stage takes from
// the rename of its job's last file to its own end, and what a job array would save at the submission. Then the
// memory of a run with 1 000 stages in the queue.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SlurmCluster, slurmCluster } from "../../tests/support/machines/slurm-cluster.ts";
import { startProgram } from "../../tests/support/run-program.ts";
import { type Bench, median, repository, seconds, semiSpace } from "./tools.ts";

const stages = 200;
const queued = 1_000;
/** Of the executor. */
const intervalMs = 5_000;

/** Prints the reason and measures nothing where no Slurm can be started. `pipelines` is the folder for the pipeline. */
export async function benchSlurm({ work, pipelines, row }: Bench & { pipelines: string }): Promise<void> {
  const cluster = await slurmCluster({ cpus: 4 });
  if ("skip" in cluster) {
    process.stderr.write(`slurm: not measured: ${cluster.skip}\n`);
    return;
  }
  try {
    await benchSubmissions(cluster, row);
    await benchStages(cluster, { work, pipelines, row });
    await benchQueue(cluster, { work, pipelines, row });
  } finally {
    await cluster.stop();
  }
}

async function benchSubmissions(cluster: SlurmCluster, row: Bench["row"]): Promise<void> {
  const submit = (...more: string[]) =>
    cluster.slurm("sbatch", "--hold", "--output=/dev/null", "--wrap=true", ...more);
  const one = await seconds(() => {
    for (let turn = 0; turn < 20; turn++) submit();
  });
  const array = await seconds(() => submit("--array=1-20"));
  cluster.slurm("scancel", "--user=root");
  row("20 submissions, one after the other", one, { against: "one job array of 20", other: array });
}

async function benchStages(
  cluster: SlurmCluster,
  { work, pipelines, row }: Bench & { pipelines: string },
): Promise<void> {
  const [file, root] = [join(pipelines, "bench-slurm.yaml"), join(work, "slurm")];
  writeFileSync(file, echoes("bench-slurm", stages));
  const { bin, calls } = countedSqueue(work);
  const env = { ...cluster.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const begin = performance.now();
  const { ended } = startProgram(repository, ["run", file, "--executor", "slurm", "--json", "--root", root], {
    env,
  });
  const renamed = new Map<string, number>();
  const watch = setInterval(() => lookForDone(join(root, ".mlrb/work"), renamed), 200);
  const { code, stdout, stderr } = await ended;
  clearInterval(watch);
  if (code !== 0) throw new Error(stdout + stderr);
  const elapsedMs = performance.now() - begin;
  row(`${stages} stages as Slurm jobs`, elapsedMs / 1000);
  row("squeue calls", calls(), {
    against: `intervals of ${intervalMs / 1000} s`,
    other: elapsedMs / intervalMs,
    target: 1.2,
    unit: "calls",
  });
  const own = ownTimes(join(root, ".mlrb/journals"), renamed);
  row(`from done.json to the end of the stage, ${own.length} stages`, median(own) / 1000, {
    against: "50 ms",
    other: 0.05,
    target: 1,
  });
}

/** No node takes a job, so that all wait in the queue. */
async function benchQueue(
  cluster: SlurmCluster,
  { work, pipelines, row }: Bench & { pipelines: string },
): Promise<void> {
  const [file, root] = [join(pipelines, "bench-queue.yaml"), join(work, "queue")];
  writeFileSync(file, echoes("bench-queue", queued));
  cluster.slurm("scontrol", "update", "nodename=ALL", "state=drain", "reason=bench");
  const args = ["run", file, "--executor", "slurm", "--json", "--root", root];
  const asPackaged = { NODE_OPTIONS: semiSpace };
  const { child, ended } = startProgram(repository, args, { env: { ...cluster.env, ...asPackaged } });
  while (cluster.jobs().length < queued) {
    if (child.exitCode !== null) throw new Error((await ended).stderr);
    await sleep(1_000);
  }
  await sleep(2 * intervalMs); // of the executor: the first answers about all
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const [peak, now] = ["VmHWM", "VmRSS"].map(
    (name) => (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6,
  );
  const limit = (200 * 2 ** 20) / 1e6;
  const detail = { against: "200 MiB", other: limit, target: 1, unit: "MB" } as const;
  row(`memory with ${queued} stages in the queue, now`, now!, detail);
  row(`memory with ${queued} stages in the queue, at most`, peak!, detail);
  cluster.slurm("scancel", "--user=root");
  child.kill("SIGINT");
  await ended;
  cluster.resume();
}

/** A pipeline of stages that each print their number. */
function echoes(name: string, count: number): string {
  const axis = Array.from({ length: count }, (_, at) => at + 1);
  const echo = { each: ["at"], command: "echo {at} > {outputs.text}", gives: { text: "file" } };
  return JSON.stringify({ formatVersion: 1, name, axes: { at: axis }, stages: { echo } });
}

/** A squeue that counts its calls. */
function countedSqueue(work: string): { bin: string; calls: () => number } {
  const [bin, log] = [join(work, "bin"), join(work, "squeue.calls")];
  mkdirSync(bin);
  writeFileSync(join(bin, "squeue"), `#!/bin/sh\necho >> '${log}'\nexec /usr/bin/squeue "$@"\n`);
  chmodSync(join(bin, "squeue"), 0o755);
  return { bin, calls: () => (existsSync(log) ? statSync(log).size : 0) };
}

/** Notes when each stage's done.json was renamed: when it was written, but for its sync. */
function lookForDone(runs: string, renamed: Map<string, number>): void {
  for (const run of existsSync(runs) ? readdirSync(runs) : []) {
    const jobs = join(runs, run, "jobs");
    for (const job of existsSync(jobs) ? readdirSync(jobs) : []) {
      const done = statSync(join(jobs, job, "done.json"), { throwIfNoEntry: false });
      if (!done) continue;
      const { stage } = JSON.parse(readFileSync(join(jobs, job, "job.json"), "utf8")) as { stage: string };
      renamed.set(stage, done.ctimeMs); // a rename changes it
    }
  }
}

/** Milliseconds from the rename to the stage's line in the journal. */
function ownTimes(journals: string, renamed: Map<string, number>): number[] {
  const file = readdirSync(journals).find((name) => name.endsWith(".jsonl"))!;
  const lines = readFileSync(join(journals, file), "utf8").split("\n").filter(Boolean);
  return lines.flatMap((line) => {
    const { event, stage, time } = JSON.parse(line) as Record<string, string>;
    const at = event === "stage" ? renamed.get(stage!) : undefined;
    return at === undefined ? [] : [Date.parse(time!) - at];
  });
}
