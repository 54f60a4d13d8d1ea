// Stops the processes of a sandbox for a while by SIGSTOP, and lets them go on. For hosts where no control group
// freezes them. A stopped process can be continued by a timer or a signal that it arranged before, so `thaw` says
// whether anything ran meanwhile: a wait counts only if nothing did.
// Linux only: elsewhere there is no /proc to find them in.
import { setTimeout as sleep } from "node:timers/promises";
import { type FindProcesses, fieldsOf, followProcesses, quiet, threadsOf } from "./process-table.ts";

export type FrozenProcesses = {
  /** Stopped by us: those that had stopped before stay so. */
  stopped: Map<number, Process>;
  /** Everything that was there, with the processor time it had used by then. */
  all: Map<number, Process>;
};

/** `started`: clock ticks since boot, which tell two processes of one number apart. `ticks`: processor time used. */
type Process = { started: number; ticks: number };

const rounds = 500;
/** Ticks of processor time, 10 ms each, that all of them together may be off by in rounding. */
const ticksOff = 1;

/** Undefined where something went on moving: then everything runs on. */
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

/** Whether a thread of it is neither stopped nor dead. Its first thread may have ended before the others. */
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

function ascending(pids: number[]): number[] {
  return pids.sort((a, b) => a - b);
}
