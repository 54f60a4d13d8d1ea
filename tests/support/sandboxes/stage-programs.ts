// Finds the programs that a runner started as stages, without their children.
import { readdirSync, readFileSync } from "node:fs";
import { isRunning } from "../processes.ts";

/** Pids of the stages that run in the state below `root`; Linux only. */
export function stagePrograms(root: string): number[] {
  const ofStages = new Set<number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger))
    if (variablesOf(pid).some((one) => one.startsWith(`MLRB_WORK=${root}/`))) ofStages.add(pid);
  return [...ofStages].filter((pid) => isRunning(pid) && !ofStages.has(parentOf(pid)));
}

function variablesOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return []; // ended meanwhile, or owned by another user
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}
