// Stops the processes of a sandbox for a while by SIGSTOP, and lets them go on. For hosts where no control group
// freezes them. A stopped process can be continued by a timer or a signal that it arranged before, so `thaw` says
// whether anything ran meanwhile: a wait counts only if nothing did.
// Linux only: elsewhere there is no /proc to find them in.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export type FrozenProcesses = {
  /** Stopped by us: those that had stopped before stay so. */
  stopped: Map<number, Process>;
  /** Everything that was there, with the processor time it had used by then. */
  all: Map<number, Process>;
};

/** `started`: clock ticks since boot, which tell two processes of one number apart. `ticks`: processor time used. */
type Process = { started: number; ticks: number };

/** Gives what is to be stopped, of the processes numbered from `first` on. */
export type FindProcesses = (first: number) => number[];

const rounds = 500;
/**
 * A chain of processes, each of which forks the next and ends, is too fast for a look at all of /proc. Its newest
 * member is among the newest processes of the host, and looking at a few takes less time than a fork.
 */
const newest = { looks: 60, pids: 12 };
/** Ticks of processor time, 10 ms each, that all of them together may be off by in rounding. */
const ticksOff = 1;

/** Undefined where something went on moving: then everything runs on. */
export async function freezeProcesses(find: FindProcesses): Promise<FrozenProcesses | undefined> {
  const stopped: FrozenProcesses["stopped"] = new Map();
  /** Whether nothing moved. */
  const stop = (pids: number[]) => {
    // parents first: a shell that sees its job stop would take it off the foreground
    const moving = ascending(pids.filter(isMoving));
    for (const pid of moving) {
      const found = processOf(pid);
      if (found && signal(pid, "SIGSTOP")) stopped.set(pid, found);
    }
    return moving.length === 0;
  };
  let calm = 0;
  for (let round = 0; round < rounds && process.platform === "linux"; round++) {
    calm = stop(find(0)) ? calm + 1 : 0;
    if (calm === 2) {
      for (let look = 0; look < newest.looks && calm > 0; look++)
        if (!stop(find(lastPid() - newest.pids))) calm = 0;
      if (calm > 0) return { stopped, all: processesOf(find(0)) };
    }
    await sleep(round < 50 ? 1 : 20);
  }
  resume(stopped);
  return undefined;
}

/** False where something had run meanwhile. */
export function thawProcesses({ stopped, all }: FrozenProcesses, find: FindProcesses): boolean {
  const now = processesOf(find(0));
  let ticks = 0;
  let moved = false;
  for (const [pid, { started, ticks: used }] of now) {
    const before = all.get(pid);
    if (before?.started === started) ticks += used - before.ticks;
    else moved = true;
    if (isMoving(pid)) moved = true;
  }
  resume(stopped);
  return !moved && ticks <= ticksOff;
}

/** Children first: a parent that looks finds them running. */
function resume(stopped: FrozenProcesses["stopped"]): void {
  for (const pid of ascending([...stopped.keys()]).reverse())
    if (processOf(pid)?.started === stopped.get(pid)!.started) signal(pid, "SIGCONT");
}

/** The pid that was given out last. */
export function lastPid(): number {
  return Number(quiet(() => readFileSync("/proc/loadavg", "latin1"))?.split(" ")[4] ?? 0);
}

/** Whether a process whose first thread has ended goes on in others. */
export function otherThreads(pid: number): boolean {
  return threadsOf(pid).some((state) => !"ZXx".includes(state));
}

/** Whether a thread of it is neither stopped nor dead. Its first thread may have ended before the others. */
function isMoving(pid: number): boolean {
  return threadsOf(pid).some((state) => !"TtZXx".includes(state));
}

function threadsOf(pid: number): string[] {
  const threads = quiet(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)?.[0] ?? "X");
}

function processesOf(pids: number[]): Map<number, Process> {
  const found = new Map<number, Process>();
  for (const pid of pids) {
    const one = processOf(pid);
    if (one) found.set(pid, one);
  }
  return found;
}

function processOf(pid: number): Process | undefined {
  const fields = fieldsOf(`/proc/${pid}/stat`);
  return fields && { started: Number(fields[19]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** From the state on. The program's own name before it may hold anything, brackets too. */
function fieldsOf(file: string): string[] | undefined {
  const text = quiet(() => readFileSync(file, "latin1"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  return quiet(() => process.kill(pid, name)) ?? false;
}

function ascending(pids: number[]): number[] {
  return pids.sort((a, b) => a - b);
}

/** A process may end at any look. */
function quiet<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
