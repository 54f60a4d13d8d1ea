// Suspends the processes of a sandbox by SIGSTOP and resumes them, on hosts without a freezing control group. A
// timer or a signal arranged before can resume a stopped process, so `thaw` reports whether anything ran
// meanwhile: a wait counts only if nothing did. Linux only, since it needs /proc.
import { setTimeout as sleep } from "node:timers/promises";
import { type FindProcesses, fieldsOf, followProcesses, quiet, threadsOf } from "./process-table.ts";

export type FrozenProcesses = {
  /** Stopped by us. Processes that had stopped before stay stopped. */
  stopped: Map<number, Process>;
  /** All processes, with the processor time that they had used. */
  all: Map<number, Process>;
};

/** `started`: clock ticks since boot, to distinguish two processes with one pid. `ticks`: processor time used. */
type Process = { started: number; ticks: number };

const rounds = 500;
/** Rounding tolerance of the total processor time, in ticks of 10 ms. */
const ticksOff = 1;

/** Undefined if something kept running: then everything is resumed. */
export async function freezeProcesses(find: FindProcesses): Promise<FrozenProcesses | undefined> {
  const stopped: FrozenProcesses["stopped"] = new Map();
  for (let round = 0; round < rounds && process.platform === "linux"; round++) {
    let moved = false;
    const whole = followProcesses(find, (pids) => {
      // parents first: a shell that sees its job stop would take it off the foreground
      for (const pid of pids.filter(isMoving)) {
        moved = true;
        const found = processOf(pid);
        if (found && signal(pid, "SIGSTOP")) stopped.set(pid, found);
      }
    });
    if (whole && !moved) return { stopped, all: processesOf(find(0)) };
    await sleep(round < 50 ? 1 : 20);
  }
  resume(stopped);
  return undefined;
}

/** False if something ran meanwhile. */
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

/** Suspends them apart from a freeze of everything. Returns the function that resumes them. */
export async function freezePart(find: FindProcesses): Promise<(() => void) | undefined> {
  const frozen = await freezeProcesses(find);
  return frozen && (() => resume(frozen.stopped));
}

/** Children first, so that a parent that checks finds them running. */
function resume(stopped: FrozenProcesses["stopped"]): void {
  for (const pid of [...stopped.keys()].sort((a, b) => b - a))
    if (processOf(pid)?.started === stopped.get(pid)!.started) signal(pid, "SIGCONT");
}

/** Whether a thread is neither stopped nor dead. The first thread may have ended before the others. */
function isMoving(pid: number): boolean {
  return threadsOf(pid).some((state) => !"TtZXx".includes(state));
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

function signal(pid: number, name: NodeJS.Signals): boolean {
  return quiet(() => process.kill(pid, name)) ?? false;
}
