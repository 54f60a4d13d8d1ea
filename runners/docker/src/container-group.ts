// The control groups of a container, seen from the host. They show which limits were met while it runs, which the
// engine reports only at its end, and its processes, which can be ended here when no engine answers.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { quiet, textOf } from "@mlrb/kit/processes/process-table";

export type ContainerGroup = ReturnType<typeof containerGroup>;

const root = "/sys/fs/cgroup";

/** `pid` is the container's first process. If its groups are not visible from here, counts are 0 and lists empty. */
export function containerGroup(pid: number, id: string) {
  const places = placesOf(pid, id);
  const read = (controller: string, file: string) => {
    const place = places.get(controller);
    return place === undefined ? "" : textOf(`${place}/${file}`);
  };
  const number = (text: string, name: string) =>
    Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  // 0: a process of another pid namespace
  const pids = () =>
    read("pids", "cgroup.procs")
      .split("\n")
      .map(Number)
      .filter((one) => one > 0);
  return {
    /** How often a process was killed for lack of memory, and how often one could not be started. */
    met: () => ({
      memory: Math.max(
        number(read("memory", "memory.oom_control"), "oom_kill"),
        number(read("memory", "memory.events"), "oom_kill"),
      ),
      processes: number(read("pids", "pids.events"), "max"),
    }),
    /** Its processes by their ids on the host. */
    pids,
    /** Kills all of them without the engine. Throws if one does not end. */
    async end() {
      for (let round = 0; round < 200; round++) {
        const left = pids();
        if (left.length === 0) return;
        for (const one of left) quiet(() => process.kill(one, "SIGKILL")); // already ended, or another user's
        await sleep(25);
      }
      throw new Error(
        `processes of a container did not end: ${pids().join(", ")}; end them by hand and run again`,
      );
    },
  };
}

/** The folder of each controller; in version 2 all share one. */
function placesOf(pid: number, id: string): Map<string, string> {
  const places = new Map<string, string>();
  for (const line of textOf(`/proc/${pid}/cgroup`).split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    // a pid of another machine or pid namespace names another process here
    if (path === undefined || !path.includes(id)) continue;
    for (const controller of controllers === "" ? ["memory", "pids"] : controllers!.split(",")) {
      // podman puts programs into a group below the one with the limits
      const place = `${root}${controllers === "" ? "" : `/${controllers}`}${path}`;
      if (existsSync(place)) places.set(controller, place);
    }
  }
  return places;
}
