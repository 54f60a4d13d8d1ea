// Inspects processes and waits for conditions by polling, never by a fixed sleep.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Whether a process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
    } catch {
      return false;
    }
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until `look` returns something. Throws `what` after `limitMs`. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false,
  limitMs = 30_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms in vain for ${what}`);
    await sleep(20);
  }
}

/** The pids that stages wrote, one per line. */
export function pidsIn(file: string): number[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Programs that stages of runs in `root` left running, by name; Linux only. */
export function stageProcesses(root: string): string[] {
  return workingIn(root)
    .map(({ comm }) => comm)
    .sort();
}

/** The pids of stages that are Node scripts; Linux only. */
export function stepsIn(root: string): number[] {
  return workingIn(root)
    .filter(({ arguments: [program] }) => program?.endsWith("node"))
    .map(({ pid }) => pid);
}

/** Whether the helper of a dead run still runs: until it notices, it may start requested stages. */
export function spawnersLeft(): boolean {
  return readdirSync("/proc")
    .map(Number)
    .filter(Number.isInteger)
    .some((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("/spawner.py")) return false;
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === "1" && isRunning(pid);
      } catch {
        return false; // ended meanwhile
      }
    });
}

function workingIn(root: string) {
  return readdirSync("/proc")
    .map(Number)
    .filter(Number.isInteger)
    .flatMap((pid) => {
      const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, "latin1");
      try {
        const variables = read("environ").split("\0");
        if (!variables.some((one) => one.startsWith(`MLRB_WORK=${root}/`)) || !isRunning(pid)) return [];
        return [{ pid, comm: read("comm").trim(), arguments: read("cmdline").split("\0") }];
      } catch {
        return []; // ended meanwhile, or owned by another user
      }
    });
}

/** The process through which a run starts its stages; Linux only. */
export function spawnerOf(runner: number): number {
  const children = readFileSync(`/proc/${runner}/task/${runner}/children`, "utf8");
  const found = children
    .split(" ")
    .filter(Boolean)
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("spawner.py"));
  if (found === undefined) throw new Error(`run ${runner} has no spawner`);
  return Number(found);
}

/** Programs with an attempt's folder below a root in their arguments: supervisors, spawners, stages. */
export function startedForAttempts(root: string): number[] {
  const own = `${root}/.mlrb/attempts/running/`;
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid) && commandOf(pid).includes(own));
}

/** The pids of supervisors of attempts below a root, which outlive their run. */
export function supervisorsIn(root: string): number[] {
  return startedForAttempts(root).filter((pid) => commandOf(pid).includes("supervisor.ts"));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it ended
  }
}

/** All programs of attempts below a root: supervisors, spawners, stages, agents' programs; Linux only. */
export function attemptProcesses(root: string): number[] {
  const own = `${root}/.mlrb/attempts/running/`;
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const read = (pid: number, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1");
    } catch {
      return ""; // it ended
    }
  };
  const found = new Set(
    all.filter((pid) => [read(pid, "cmdline"), read(pid, "environ")].some((text) => text.includes(own))),
  );
  const parent = (pid: number) => Number(/\) \S (\d+) /.exec(read(pid, "stat"))?.[1]);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const pid of all) if (found.has(parent(pid))) found.add(pid);
  }
  return [...found].filter((pid) => pid !== process.pid && isRunning(pid));
}
