// Finds and measures, from the host, the processes of a pid namespace, whatever their parent is now. Used for
// limits that no control group holds.

import { readlinkSync, statfsSync } from "node:fs";
import {
  candidates,
  type FindProcesses,
  fieldsOf,
  otherThreads,
  quiet,
  textOf,
} from "@mlrb/kit/processes/process-table";

const foldersInMemory = ["/dev/shm", "/tmp"];

/** Living processes in the namespace whose first process is `first`, without `first`. */
export function processesWith(first: number): number[] {
  return findNamespace(first)(0).filter((pid) => pid !== first);
}

/** Finds all of them, including `first`. */
export function findNamespace(first: number): FindProcesses {
  return (lowest) => {
    const namespace = namespaceOf(first);
    if (namespace === undefined) return [];
    return candidates(lowest).filter((pid) => namespaceOf(pid) === namespace && !isGone(pid));
  };
}

export function threadsOf(pids: readonly number[]): number {
  return sum(pids, (pid) => Number(/^Threads:\t(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0));
}

/** Their memory in bytes, shared pages counted once, plus the content of their folders in memory. */
export function memoryOf(first: number, pids: readonly number[]): number {
  const own = sum(pids, (pid) => {
    const rollup = textOf(`/proc/${pid}/smaps_rollup`);
    const part = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1] ?? 0);
    // includes mapped files of those folders
    const inShared = part("Pss_Shmem");
    return 1024 * (part("Pss") - inShared + (inShared > 0 ? withoutFile(pid) : 0));
  });
  const inMemory = sum(foldersInMemory, (folder) => {
    const held = quiet(() => statfsSync(`/proc/${first}/root${folder}`));
    return held ? (held.blocks - held.bfree) * held.bsize : 0;
  });
  return own + inMemory;
}

/** KiB of memory that the process shares without a file in a folder: by mmap, System V or memfd. */
function withoutFile(pid: number): number {
  let [all, counts] = [0, false];
  for (const line of textOf(`/proc/${pid}/smaps`).split("\n")) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line))
      counts = /^\S+ ...s .* (\/dev\/zero|\/SYSV|\/memfd:|\[anon_shmem)/.test(line);
    else if (counts && line.startsWith("Pss:")) all += Number(/\d+/.exec(line));
  }
  return all;
}

export function isGone(pid: number): boolean {
  const state = stateOf(pid);
  return state === "" || state === "X" || (state === "Z" && !otherThreads(pid));
}

function namespaceOf(pid: number): string | undefined {
  return quiet(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

function stateOf(pid: number): string {
  return fieldsOf(`/proc/${pid}/stat`)?.[0] ?? "";
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
