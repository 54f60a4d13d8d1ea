// A test's own Slurm: munged, slurmctld and several slurmd on loopback, with their state in a short folder under
// /tmp. Accounting, control groups and made-up GPUs on demand. Partitions: `main`, and `low`, whose jobs are
// preempted by those of `main`. Where Slurm is not installed or may not run, tests are skipped with a reason.
import { spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning, until } from "../processes.ts";
import { lacking } from "./debian-tool.ts";
import {
  accountingLines,
  lackingAccounting,
  type SlurmAccounting,
  startAccounting,
  stopAccounting,
} from "./slurm-accounting.ts";

export type SlurmCluster = {
  /** For programs that use the cluster: SLURM_CONF. */
  env: Record<string, string>;
  folder: string;
  /** Runs a program of Slurm; throws where it fails. */
  slurm(program: string, ...args: string[]): string;
  /** The lines of `squeue` for all jobs that have not ended. */
  jobs(): string[];
  /** kill -9 of a daemon: `slurmctld`, or `slurmd` of a node. */
  crash(daemon: string, node?: string): Promise<void>;
  /** kill -9 of a node: its slurmd and everything of its jobs. */
  crashNode(node: string): Promise<void>;
  /** Starts the daemons that do not run, and waits until all nodes can take jobs. */
  start(): Promise<void>;
  /** Lets drained nodes take jobs again. */
  resume(): void;
  stop(): Promise<void>;
};

export type ClusterOptions = {
  /** Of each node; may exceed the machine's. */
  cpus?: number;
  /** Made-up GPUs of each node, of type a100. */
  gpus?: number;
  /** Whether slurmdbd keeps accounts, so that sacct answers. */
  accounting?: boolean;
  /** Whether the kernel's control groups hold the jobs. */
  groups?: boolean;
};

export async function slurmCluster(options: ClusterOptions = {}): Promise<SlurmCluster | { skip: string }> {
  if (process.platform !== "linux") return { skip: "Slurm is for Linux only" };
  if (process.getuid?.() !== 0) return { skip: "slurmd needs root" };
  for (const [program, pack] of [
    ["munged", "munge"],
    ["slurmctld", "slurm-wlm"],
    ["slurmd", "slurm-wlm"],
  ] as const) {
    const why = lacking(program, pack);
    if (why !== false) return { skip: why };
  }
  const without = (options.accounting && lackingAccounting()) || (options.groups && lackingGroups());
  if (without) return { skip: without };
  const folder = mkdtempSync("/tmp/sl-"); // unix sockets have short paths
  chmodSync(folder, 0o755); // munge refuses folders that others may write in
  for (const name of ["munge", "state", "log"]) mkdirSync(join(folder, name), { mode: 0o700 });
  writeFileSync(join(folder, "munge/key"), randomBytes(128), { mode: 0o600 });
  const nodes = ["n1", "n2"];
  const ports = await freePorts(nodes.length + 3);
  writeFileSync(join(folder, "slurm.conf"), configuration({ folder, nodes, ports, ...options }));
  writeFileSync(join(folder, "gres.conf"), madeUpGpus(folder, options.gpus ?? 0));
  writeFileSync(join(folder, "cgroup.conf"), options.groups ? `${groupLines.join("\n")}\n` : "");
  const accountingPorts: [number, number] | undefined = options.accounting
    ? [ports[3]!, ports[4]!]
    : undefined;
  const cluster = new TestCluster(folder, nodes, accountingPorts);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    return { skip: `Slurm does not start here: ${(error as Error).message}` };
  }
  return cluster;
}

class TestCluster implements SlurmCluster {
  readonly env: Record<string, string>;
  readonly folder: string;
  readonly #nodes: string[];
  readonly #accountingPorts: [number, number] | undefined;
  #accounting: SlurmAccounting | undefined;

  constructor(folder: string, nodes: string[], accountingPorts: [number, number] | undefined) {
    this.folder = folder;
    this.#nodes = nodes;
    this.#accountingPorts = accountingPorts;
    this.env = { SLURM_CONF: join(folder, "slurm.conf") };
  }

  slurm(program: string, ...args: string[]): string {
    const { status, stdout, stderr, error } = this.#call(program, args);
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
    return stdout;
  }

  jobs(): string[] {
    return this.slurm("squeue", "--noheader").split("\n").filter(Boolean);
  }

  async crash(daemon: string, node?: string): Promise<void> {
    const pid = this.#pid(node === undefined ? daemon : `${daemon}.${node}`);
    if (pid === undefined) throw new Error(`${daemon} does not run`);
    process.kill(pid, "SIGKILL");
    await until(`the end of ${daemon}`, () => !isRunning(pid));
  }

  async crashNode(node: string): Promise<void> {
    // the stepd's first: otherwise they would report the end of their jobs
    for (const pid of ofNode(this.env.SLURM_CONF!, node)) process.kill(pid, "SIGKILL");
    await this.crash("slurmd", node);
    for (const pid of ofNode(this.env.SLURM_CONF!, node)) process.kill(pid, "SIGKILL");
  }

  async start(): Promise<void> {
    const { folder } = this;
    if (this.#pid("munged") === undefined) {
      for (const name of readdirSync(folder)) if (name.startsWith("munge.socket")) rmSync(join(folder, name));
      this.slurm(
        "munged",
        ...["--force", "--key-file", join(folder, "munge/key"), "--socket", join(folder, "munge.socket")],
        ...["--pid-file", join(folder, "munged.pid"), "--log-file", join(folder, "log/munged")],
        ...["--seed-file", join(folder, "munge/seed")],
      );
    }
    if (this.#accountingPorts)
      this.#accounting ??= await startAccounting(folder, {
        cluster: clusterName,
        ports: this.#accountingPorts,
      });
    if (this.#pid("slurmctld") === undefined) this.slurm("slurmctld");
    for (const node of this.#nodes)
      if (this.#pid(`slurmd.${node}`) === undefined) this.slurm("slurmd", "-N", node);
    for (let round = 0; round < 100; round++) {
      const { stdout } = this.#call("sinfo", ["--noheader", "--Node", "--format=%N %T", "--partition=main"]);
      const lines = stdout.split("\n").filter(Boolean);
      if (lines.length === this.#nodes.length && lines.every((line) => / (idle|mixed|allocated)$/.test(line)))
        return;
      if (round % 10 === 9) this.resume();
      await sleep(100);
    }
    throw new Error(`its nodes take no jobs: ${this.slurm("sinfo", "--Node", "--long")}`);
  }

  resume(): void {
    this.#call("scontrol", ["update", "nodename=ALL", "state=resume"]);
  }

  async stop(): Promise<void> {
    this.#call("scancel", ["--state=PENDING", "--user=root"]);
    this.#call("scancel", ["--signal=KILL", "--full", "--user=root"]);
    const daemons = [...this.#nodes.map((node) => `slurmd.${node}`), "slurmctld", "munged"];
    for (const name of daemons) {
      const pid = this.#pid(name);
      if (pid === undefined) continue;
      process.kill(pid, "SIGKILL");
      await until(`the end of ${name}`, () => !isRunning(pid));
    }
    for (const pid of ofNode(this.env.SLURM_CONF!)) process.kill(pid, "SIGKILL");
    if (this.#accounting) await stopAccounting(this.#accounting);
    for (const node of this.#nodes) removeGroups(node);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #call(program: string, args: string[]) {
    const env = { ...process.env, ...this.env };
    return spawnSync(program, args, { env, encoding: "utf8", timeout: 20_000 });
  }

  /** Undefined if the daemon does not run. */
  #pid(name: string): number | undefined {
    const file = join(this.folder, `${name}.pid`);
    const pid = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
    return pid > 0 && isRunning(pid) ? pid : undefined;
  }
}

/**
 * The step daemons of a cluster and what they started, on one node or on all, the daemons first: otherwise they
 * would report the end of their programs.
 */
function ofNode(configuration: string, node?: string): number[] {
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const of = (pid: number, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1");
    } catch {
      return ""; // it ended
    }
  };
  const own = all.filter((pid) => of(pid, "environ").split("\0").includes(`SLURM_CONF=${configuration}`));
  const isDaemon = (pid: number) => of(pid, "cmdline").startsWith("slurmstepd");
  const programs = own.filter((pid) => {
    const name = /(?:^|\0)SLURMD_NODENAME=([^\0]*)/.exec(of(pid, "environ"))?.[1];
    return name !== undefined && (node === undefined || name === node);
  });
  const parents = programs.map((pid) => Number(/\) \S (\d+) /.exec(of(pid, "stat"))?.[1]));
  const daemons = own.filter((pid) => isDaemon(pid) && (node === undefined || parents.includes(pid)));
  return [...daemons, ...programs.filter((pid) => pid !== process.pid)];
}

const clusterName = "mlrbtest";

/** Control groups of the first kind: those of the second need systemd on the node. */
const groupLines = [
  ...["CgroupPlugin=cgroup/v1", "CgroupMountpoint=/sys/fs/cgroup", "CgroupAutomount=no"],
  ...["ConstrainRAMSpace=yes", "ConstrainSwapSpace=yes", "AllowedSwapSpace=0"],
];

function lackingGroups(): string | false {
  const missing = ["memory", "freezer"].filter((one) => !existsSync(`/sys/fs/cgroup/${one}/tasks`));
  return missing.length > 0 && `this host has no control groups v1 for ${missing.join(" and ")}`;
}

/** Control groups of a node that hold nothing; those of another cluster's jobs stay. */
function removeGroups(node: string): void {
  for (const kind of ["memory", "freezer", "cpuacct"])
    spawnSync("find", [
      `/sys/fs/cgroup/${kind}/slurm_${node}`,
      "-depth",
      "-type",
      "d",
      "-exec",
      "rmdir",
      "{}",
      ";",
    ]);
}

/** gres.conf; the devices are copies of /dev/null. */
function madeUpGpus(folder: string, count: number): string {
  if (count === 0) return "";
  mkdirSync(join(folder, "dev"));
  for (let at = 0; at < count; at++)
    spawnSync("mknod", ["-m", "666", join(folder, `dev/nvidia${at}`), "c", "1", "3"]);
  return `Name=gpu Type=a100 File=${folder}/dev/nvidia[0-${count - 1}]\n`;
}

type Configured = ClusterOptions & { folder: string; nodes: string[]; ports: number[] };

function configuration(options: Configured): string {
  const { folder, nodes, ports, cpus = 4, gpus = 0, accounting, groups } = options;
  const host = hostname().split(".")[0]!;
  return `${[
    `ClusterName=${clusterName}`,
    `SlurmctldHost=${host}(127.0.0.1)`,
    `SlurmctldPort=${ports[0]}`,
    "SlurmUser=root",
    "SlurmdUser=root",
    "AuthType=auth/munge",
    `AuthInfo=socket=${folder}/munge.socket`,
    "CredType=cred/munge",
    "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
    `StateSaveLocation=${folder}/state`,
    `SlurmdSpoolDir=${folder}/spool.%n`,
    `SlurmctldPidFile=${folder}/slurmctld.pid`,
    `SlurmdPidFile=${folder}/slurmd.%n.pid`,
    `SlurmctldLogFile=${folder}/log/slurmctld`,
    `SlurmdLogFile=${folder}/log/slurmd.%n`,
    ...(groups
      ? [
          "ProctrackType=proctrack/cgroup",
          "TaskPlugin=task/cgroup",
          "JobAcctGatherType=jobacct_gather/cgroup",
        ]
      : [
          "ProctrackType=proctrack/linuxproc",
          "TaskPlugin=task/none",
          "JobAcctGatherType=jobacct_gather/none",
        ]),
    ...(accounting ? accountingLines(folder, ports[4]!) : ["AccountingStorageType=accounting_storage/none"]),
    // control groups are named by the job's id, also those of another cluster on this host
    ...(groups ? [`FirstJobId=${randomInt(1, 50_000_000)}`] : []),
    ...(gpus > 0 ? ["GresTypes=gpu"] : []),
    "MpiDefault=none",
    "MailProg=/bin/true",
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_Core_Memory",
    "DefMemPerCPU=100", // otherwise a job without --mem has the memory of a whole node
    "SlurmdParameters=config_overrides",
    "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,sched_min_interval=100000",
    "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
    "MinJobAge=300",
    "KillWait=2",
    "SlurmdTimeout=5",
    "SlurmctldTimeout=5",
    "TCPTimeout=2",
    "MessageTimeout=5",
    "ReturnToService=2",
    "JobRequeue=1",
    ...nodes.map(
      (node, at) =>
        `NodeName=${node} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[at + 1]} CPUs=${cpus} RealMemory=64000${gpus > 0 ? ` Gres=gpu:a100:${gpus}` : ""} State=UNKNOWN`,
    ),
    "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 PriorityTier=10 PreemptMode=OFF State=UP",
    "PartitionName=low Nodes=ALL MaxTime=INFINITE DefaultTime=10 PriorityTier=1 State=UP",
  ].join("\n")}\n`;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once("listening", resolve))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
