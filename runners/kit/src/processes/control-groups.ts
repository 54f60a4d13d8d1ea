// Limits all programs of one sandbox or stage together, by the kernel's control groups, version 1 or 2. If this
// user may make no groups of some kind, the caller meters that resource. Groups are made below or next to this
// process's own group, so a limit on that one still applies.
import { constants, mkdirSync, openSync, readdirSync, rmdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openedFile } from "../files/opened-file.ts";
import { quiet, textOf } from "./process-table.ts";

export type Controller = "memory" | "pids" | "freezer" | "cpu";

/** Threads count as processes; without `cpus` the cores are not limited. */
export type GroupLimits = { memoryBytes: number; processes: number; cpus?: number };

export type ControlGroups = ReturnType<typeof makeControlGroups>;

type Group = { path: string; version: 1 | 2; controllers: Controller[] };

const prefix = "mlrb-";

/** `name` marks the groups on the host: letters, digits, dashes. */
export function makeControlGroups(name: string, limits: GroupLimits) {
  const groups = [...makeVersion1(name, limits), ...makeVersion2(name, limits)];
  const has: ReadonlySet<Controller> = new Set(groups.flatMap((group) => group.controllers));
  const entries = groups.map(({ path }) => join(path, "cgroup.procs"));
  const of = (controller: Controller) => groups.find((group) => group.controllers.includes(controller));
  return {
    /** What the groups limit or do. The caller does the rest. */
    has,
    /** Descriptors to which a process writes "0" to enter. The reader must set close-on-exec. */
    open: () => entries.map((path) => openSync(path, constants.O_WRONLY)),
    /** The files behind these descriptors. */
    entries,
    /** How often each limit was met since the groups were made. */
    met() {
      const [memory, pids] = [of("memory"), of("pids")];
      return {
        memory: memory
          ? counted(memory, memory.version === 1 ? "memory.oom_control" : "memory.events", "oom_kill")
          : 0,
        processes: pids ? counted(pids, "pids.events", "max") : 0,
      };
    },
    /** Freezes or thaws everything inside; false if it did not happen in time. */
    async freeze(frozen: boolean): Promise<boolean> {
      const group = of("freezer");
      if (!group) return false;
      const one = group.version === 1;
      const file = join(group.path, one ? "freezer.state" : "cgroup.freeze");
      const wanted = one ? (frozen ? "FROZEN" : "THAWED") : frozen ? "1" : "0";
      if (!written(file, wanted)) return false;
      for (let round = 0; round < 500; round++) {
        const reached = one
          ? textOf(file).trim() === wanted
          : counted(group, "cgroup.events", "frozen") === Number(wanted);
        if (reached) return true;
        if (one) written(file, wanted); // asking again catches a process that was just forked
        await sleep(round < 50 ? 1 : 20);
      }
      return false;
    },
    /** Call when nothing is left inside. */
    async remove() {
      for (const { path } of groups) await removeGroup(path);
    },
  };
}

/** Whether this user may make a group that limits memory. Tested by making one, once. */
export async function mayLimitMemory(): Promise<boolean> {
  tried ??= makeAndRemove();
  return await tried;
}

let tried: Promise<boolean> | undefined;

async function makeAndRemove(): Promise<boolean> {
  const groups = makeControlGroups(`probe-${process.pid}`, {
    memoryBytes: 2 ** 29,
    processes: 128,
    cpus: 1,
  });
  await groups.remove();
  return groups.has.has("memory");
}

/** Kills all processes in groups of this name and removes the groups, even another supervisor's. */
export async function removeControlGroups(name: string): Promise<void> {
  const places = [...version1().values(), ...version2()].map((folder) => join(folder, prefix + name));
  for (let round = 0; round < 100; round++) {
    const left = places.filter((path) => {
      written(join(path, "freezer.state"), "THAWED");
      written(join(path, "cgroup.freeze"), "0");
      const pids = textOf(join(path, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
      for (const pid of pids) if (pid > 1) quiet(() => process.kill(pid, "SIGKILL"));
      return pids.length > 0;
    });
    if (left.length === 0) break;
    await sleep(20);
  }
  for (const path of places) await removeGroup(path);
}

/** The same for all groups whose names continue this one with a dash: those of a run's stages. */
export async function removeGroupsBelow(name: string): Promise<void> {
  const found = [...version1().values(), ...version2()].flatMap((folder) =>
    (quiet(() => readdirSync(folder)) ?? []).filter((one) => one.startsWith(`${prefix}${name}-`)),
  );
  for (const one of new Set(found)) await removeControlGroups(one.slice(prefix.length));
}

async function removeGroup(path: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    try {
      return rmdirSync(path);
    } catch (error) {
      // a process counts until it is reaped
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") return;
      await sleep(10);
    }
  }
}

function makeVersion1(name: string, limits: GroupLimits): Group[] {
  const made: Group[] = [];
  const begin: Record<Controller, (path: string) => boolean> = {
    memory(path) {
      if (!written(join(path, "memory.limit_in_bytes"), limits.memoryBytes)) return false;
      written(join(path, "memory.memsw.limit_in_bytes"), limits.memoryBytes); // a kernel that counts swap
      return true;
    },
    pids: (path) => written(join(path, "pids.max"), limits.processes),
    freezer: (path) => textOf(join(path, "freezer.state")) !== "",
    cpu: (path) =>
      limits.cpus !== undefined &&
      written(join(path, "cpu.cfs_period_us"), 100_000) &&
      written(join(path, "cpu.cfs_quota_us"), Math.round(limits.cpus * 100_000)),
  };
  for (const [controller, folder] of version1()) {
    const path = join(folder, prefix + name);
    if (!quiet(() => [mkdirSync(path)])) continue;
    if (begin[controller](path)) made.push({ path, version: 1, controllers: [controller] });
    else quiet(() => rmdirSync(path));
  }
  return made;
}

/**
 * Makes the group in the first place that allows it: this process's own group if no other process is in it, or one
 * above.
 */
function makeVersion2(name: string, limits: GroupLimits): Group[] {
  for (const [index, folder] of version2().entries()) {
    // only in the own group: those above are not ours to divide
    if (index === 0) written(join(folder, "cgroup.subtree_control"), "+memory +pids +cpu");
    const path = join(folder, prefix + name);
    if (!quiet(() => [mkdirSync(path)])) continue;
    const controllers: Controller[] = [];
    if (written(join(path, "memory.max"), limits.memoryBytes)) {
      written(join(path, "memory.swap.max"), 0);
      controllers.push("memory");
    }
    if (written(join(path, "pids.max"), limits.processes)) controllers.push("pids");
    if (
      limits.cpus !== undefined &&
      written(join(path, "cpu.max"), `${Math.round(limits.cpus * 100_000)} 100000`)
    )
      controllers.push("cpu");
    if (controllers.length > 0 && textOf(join(path, "cgroup.freeze")) !== "") controllers.push("freezer");
    if (controllers.length > 0) return [{ path, version: 2, controllers }];
    quiet(() => rmdirSync(path));
  }
  return [];
}

/** The folder of this process's group by controller. */
function version1(): Map<Controller, string> {
  const found = new Map<Controller, string>();
  for (const line of textOf("/proc/self/cgroup").split("\n")) {
    const [, names = "", own = ""] = /^\d+:([^:]+):(.*)$/.exec(line) ?? [];
    for (const name of names.split(","))
      if (["memory", "pids", "freezer", "cpu"].includes(name)) {
        const mount = mountOf((type, options) => type === "cgroup" && options.split(",").includes(name));
        if (mount) found.set(name as Controller, join(mount, own));
      }
  }
  return found;
}

/** Folders in which a group may be made, the nearest first. */
function version2(): string[] {
  const own = /^0::(.*)$/m.exec(textOf("/proc/self/cgroup"))?.[1];
  const mount = mountOf((type) => type === "cgroup2");
  if (own === undefined || !mount) return [];
  const folders: string[] = [];
  for (let at = own; ; at = dirname(at)) {
    folders.push(join(mount, at));
    if (at === "/" || at === ".") return folders;
  }
}

function mountOf(is: (type: string, options: string) => boolean): string | undefined {
  for (const line of textOf("/proc/self/mounts").split("\n")) {
    const [, at = "", type = "", options = ""] = line.split(" ");
    if (is(type, options)) return at;
  }
  return undefined;
}

/** The number after `key` in a file of lines `key number`. */
function counted({ path }: Group, file: string, key: string): number {
  return Number(new RegExp(`^${key} (\\d+)`, "m").exec(textOf(join(path, file)))?.[1] ?? 0);
}

function written(file: string, value: string | number): boolean {
  const bytes = quiet(() => {
    using open = openedFile(file, constants.O_WRONLY); // never makes a file where there is no group
    return writeSync(open.descriptor, String(value));
  });
  return bytes !== undefined;
}
