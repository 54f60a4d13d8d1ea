// Identifies a process so that other processes can determine whether it lives: on this machine by the process
// table, elsewhere only by its heartbeat. A process id alone is not enough: ids are reused, start again after a
// boot, and each container has its own process table.
import { hash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { hasProcess } from "@mlrb/kit/processes/has-process";
import { ifReadable } from "../store/if-readable.ts";

/** Describes this process so precisely that a reused pid or another boot is not mistaken for it. */
export function thisProcess(): Owner {
  return {
    ...thisPlace(),
    pid: process.pid,
    started: startOf(process.pid) ?? "",
    since: new Date().toISOString(),
  };
}

/** Where a process runs. Two processes share a process table if all fields agree. */
export type Place = { host: string; boot: string; table: string; machine: string };

let place: Place | undefined;

export function thisPlace(): Place {
  place ??= readPlace();
  return place;
}

/** A part is empty where the system is not Linux, or this user may not read it. */
function readPlace(): Place {
  const id = ifReadable(() => readFileSync("/etc/machine-id", "utf8").trim());
  return {
    host: hostname(),
    boot: ifReadable(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "",
    table: ifReadable(() => readlinkSync("/proc/self/ns/pid")) ?? "",
    // hashed: the machine id itself is confidential
    machine: id ? hash("sha256", `mlrb ${id}`).slice(0, 16) : "",
  };
}

/** `elsewhere`: only the heartbeat shows whether the process lives. */
export type Life = "alive" | "dead" | "elsewhere";

export function lifeOf(owner: Owner, here: Place = thisPlace(), started = startOf): Life {
  if (owner.gone) return "dead";
  if (owner.host !== here.host) return "elsewhere";
  // a missing field counts as equal: the file was written by hand
  if (differ(owner.machine, here.machine)) return "elsewhere";
  if (owner.boot !== here.boot) return "dead"; // with its whole process table, whichever that was
  if (differ(owner.table, here.table)) return "elsewhere";
  return started(owner.pid) === owner.started ? "alive" : "dead";
}

function differ(one: string | undefined, other: string): boolean {
  return one !== undefined && one !== "" && other !== "" && one !== other;
}

/** Whether two descriptions are of one process. */
export function isSameProcess(one: Owner, other: Owner): boolean {
  const fields = ["host", "pid", "started", "boot"] as const;
  return fields.every((field) => one[field] === other[field]);
}

/** Whether the process is not known to be dead. True for every process on another machine. */
export function isAlive(owner: Owner): boolean {
  return lifeOf(owner) !== "dead";
}

/** False if the machine may have lost power since then: unsynced data may be torn. */
export function isOfThisBoot(owner: Owner | undefined): boolean {
  return owner !== undefined && owner.boot === thisPlace().boot;
}

/** Whether a process with this id lives in this process's table. */
export function isRunning(pid: number): boolean {
  return pid > 0 && startOf(pid) !== undefined;
}

/**
 * E.g. `process 17 on gpu2 since 2026-01-31T10:00:00.000Z by its clock`. For a process on this machine, without
 * the start time.
 */
export function ownerWords(owner: Owner, here: Place = thisPlace()): string {
  const { pid, host, since } = owner;
  const isElsewhere = since !== undefined && lifeOf(owner, here) === "elsewhere";
  return `process ${pid} on ${host}${isElsewhere ? ` since ${since} by its clock` : ""}`;
}

/** Returns the start time of a living process in clock ticks. Undefined if the process is dead or a zombie. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    if (process.platform === "linux") return undefined;
  }
  return hasProcess(pid) ? "" : undefined;
}
