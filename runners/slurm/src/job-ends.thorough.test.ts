// How jobs end on a cluster that keeps accounts, holds jobs in control groups and has GPUs: a real Slurm, MariaDB
// and the kernel's groups, on loopback. The GPUs are fake. Where accounts or groups cannot be kept, these tests
// are skipped with the reason; what `sacct` prints is then covered by its recorded output only
// (read-squeue.test.ts).
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { ContractLab, type MakeExecutor, running } from "../../../tests/support/executor-contract.ts";
import { lacking } from "../../../tests/support/machines/debian-tool.ts";
import { fakeGpus, fakeNvidia } from "../../../tests/support/machines/fake-nvidia.ts";
import { type SlurmCluster, slurmCluster } from "../../../tests/support/machines/slurm-cluster.ts";
import { wrongClock } from "../../../tests/support/machines/wrong-clock.ts";
import { isRunning, until } from "../../../tests/support/processes.ts";
import { SlurmExecutor } from "./slurm-executor.ts";

const program = join(import.meta.dirname, "../../cli/src/cluster/slurm-job.ts");
/** Of the jobs of some runs. */
const programs = new Map<string, string>();
const times = { intervalMs: 300, lateMs: 3_000 };
const place = mkdtempSync(join(tmpdir(), "mlrb-ends-"));
let cluster: SlurmCluster;
let why: string | false = false;
before(async () => {
  const started = await slurmCluster({ accounting: true, groups: true, gpus: 2 });
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(async () => {
  await cluster?.stop();
  rmSync(place, { recursive: true, force: true });
});

/** `path` is searched before PATH for Slurm's programs. */
function it(title: string, body: (lab: ContractLab) => Promise<void>, path?: () => string): void {
  test(title, { timeout: 120_000 }, async (t) => {
    if (why !== false) return t.skip(why);
    const PATH = [...(path ? [path()] : []), process.env.PATH].join(delimiter);
    const env = { ...process.env, ...cluster.env, PATH };
    const make: MakeExecutor = ({ work, run, isLive, take }) =>
      new SlurmExecutor({ work, run, isLive, take, program: programs.get(run) ?? program, times, env });
    await body(new ContractLab(t, make));
    await until("the end of all jobs", () => cluster.jobs().length === 0);
  });
}

const hog = "python3 -c 'held = bytearray(900 << 20); import time; time.sleep(60)'";
const idOf = (name: string) =>
  until("the job", () =>
    cluster.slurm("squeue", "--noheader", "--states=RUNNING", `--name=${name}`, "--format=%i").trim(),
  );
const booked = (gpus: number): Partial<ExecutionRequest> => ({
  booked: { memoryBytes: 100 << 20, gpus, slurm: { gres: "gpu:a100" } },
});

it("a stage that takes more memory than its job books is ended by Slurm for that cause", async (lab) => {
  const result = await lab.executor("first").start(lab.request(hog, booked(0))).ended;
  const detail = "held more memory than its job books (resources.memory)";
  assert.deepEqual(result, { kind: "failed", cause: "out-of-memory", detail });
});

it("a job that Slurm ends at the time limit of its partition has failed for that cause", async (lab) => {
  const request = lab.request("echo begun; sleep 300");
  const { ended } = lab.executor("limited").start(request);
  await lab.says(request, "begun");
  // the shortest limit of a partition is a minute
  cluster.slurm("scontrol", "update", `jobid=${await idOf("limited")}`, "EndTime=now");
  const detail = "did not end within the time limit of its partition";
  assert.deepEqual(await ended, { kind: "failed", cause: "time-limit", detail });
});

it("after kill -9 of the job's own program, Slurm's control groups leave no process", async (lab) => {
  const sleep = lab.sleep();
  const request = lab.request(`setsid ${sleep} & echo begun; wait`);
  const { ended } = lab.executor("killed").start(request);
  await lab.says(request, "begun");
  for (const pid of programsOf(request.work)) process.kill(pid, "SIGKILL");
  const result = await ended;
  assert.equal(result.kind === "failed" && result.cause, "machine", JSON.stringify(result));
  await until("the end of its child", () => running(sleep).length === 0);
});

it(
  "where squeue has forgotten a job, the accounts say that it took too much memory",
  async (lab) => {
    const { ended } = lab.executor("hungry").start(lab.request(hog, booked(0)));
    assert.equal(causeOf(await ended), "out-of-memory");
  },
  forgetful,
);

it(
  "where squeue has forgotten a job, the accounts say that a person cancelled it",
  async (lab) => {
    const request = lab.request("echo begun; sleep 100");
    const { ended } = lab.executor("unwanted").start(request);
    await lab.says(request, "begun");
    cluster.slurm("scancel", await idOf("unwanted"));
    assert.equal(causeOf(await ended), "operator");
  },
  forgetful,
);

it("a node whose clock is an hour off changes neither results nor time limits", async (lab) => {
  assert.equal(lacking("faketime", "faketime"), false);
  for (const hours of [1, -1]) {
    // slurmd and munge keep the right clock: Slurm itself refuses messages that are five minutes old
    const off = wrongClock(offset(hours));
    programs.set(`off-by-${hours}`, startsWith(`off-by-${hours}`, off));
    const at = lab.executor(`off-by-${hours}`);
    const seen = { env: { PATH: process.env.PATH!, ...off } };
    const clock = lab.request("date +%s; sleep 1", { ...seen, limits: { timeMs: 50_000 } });
    assert.equal((await at.start(clock).ended).kind, "succeeded", lab.log(clock));
    assert.equal(Math.round((Number.parseInt(lab.log(clock), 10) - Date.now() / 1000) / 3600), hours);
    const long = lab.request("sleep 60", { ...seen, limits: { timeMs: 1_500 } });
    assert.equal(causeOf(await at.start(long).ended), "time-limit", lab.log(long));
  }
});

it("two jobs hold two different fake GPUs, and the provenance names each", async (lab) => {
  const at = lab.executor("gpus");
  const both = [0, 1].map(() =>
    onGpu(lab, 2, 'echo "has $CUDA_VISIBLE_DEVICES"; until test -e "$HOME/../out/go"; do sleep 0.1; done'),
  );
  const started = both.map((request) => at.start(request));
  for (const request of both) await lab.says(request, "has ");
  for (const { work } of both) mkdirSync(join(work, "out/go"));
  const held = started.map(async ({ ended }, index) => {
    const result = await ended;
    assert.ok(result.kind === "succeeded", lab.log(both[index]!));
    const { gpus, driver, node } = result.where ?? {};
    const [, uuid] = /^Fake A100-SXM4-80GB \((GPU-[^)]*)\)$/.exec(gpus ?? "") ?? [];
    assert.ok(uuid !== undefined && driver === "550.54.15", JSON.stringify(result.where));
    assert.match(lab.log(both[index]!), new RegExp(`has ${uuid}\n`));
    return `${node} ${uuid}`;
  });
  assert.equal(new Set(await Promise.all(held)).size, 2);
});

it("a job whose node lists fewer fake GPUs than Slurm granted does not begin its stage", async (lab) => {
  const request = onGpu(lab, 0, "echo begun");
  const result = await lab.executor("fewer").start(request).ended;
  assert.ok(result.kind === "failed" && result.cause === "machine");
  assert.match(result.detail, /^the stage wants 1 GPUs; Slurm granted "0" .* of which nvidia-smi lists 0/);
  assert.doesNotMatch(lab.log(request), /begun/);
});

/** A stage on one GPU, on nodes whose driver lists `count`. */
function onGpu(lab: ContractLab, count: number, command: string): ExecutionRequest {
  const request = lab.request(command, booked(1));
  const { bin } = fakeNvidia(join(place, `driver-of-${count}`), fakeGpus(count));
  return { ...request, env: { ...request.env, PATH: `${bin}${delimiter}${process.env.PATH}` } };
}

/** As faketime reads it. */
function offset(hours: number): string {
  return `${hours < 0 ? "-" : "+"}${Math.abs(hours)}h`;
}

/** A program of jobs that runs the usual one with these variables. */
function startsWith(name: string, variables: Record<string, string>): string {
  const wrapper = join(place, `${name}.mjs`);
  writeFileSync(
    wrapper,
    `import { spawnSync } from "node:child_process";
const env = { ...process.env, ...${JSON.stringify(variables)} };
const args = [...${JSON.stringify([...nodeFlags, program])}, process.argv[2]];
const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env });
process.exit(status ?? 1);
`,
  );
  return wrapper;
}

/** The programs of jobs whose folder is in the same place as this work folder. */
function programsOf(work: string): number[] {
  const jobs = `${join(work, "../killed/jobs")}/`;
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return words.includes(program) && words.some((one) => one.startsWith(jobs));
      } catch {
        return false; // it ended
      }
    });
}

function causeOf(result: ExecutionResult): string {
  return result.kind === "failed" ? result.cause : result.kind;
}

/** A squeue that lists no ended job, as one whose MinJobAge has passed. */
function forgetful(): string {
  const folder = join(place, "forgetful");
  const ends = "COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL|PREEMPTED";
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "squeue"),
    `#!/bin/sh\n/usr/bin/squeue "$@" | grep -vE '^[0-9]+\\|(${ends})\\|'\ntrue\n`,
  );
  chmodSync(join(folder, "squeue"), 0o755);
  return folder;
}
