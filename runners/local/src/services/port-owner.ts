// Whether a port of this host is a service's: an agent with a network could listen there first, and answer as its
// model. By the parents of processes, which a process cannot choose; its environment could say anything. Linux
// only.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { candidates, fieldsOf } from "@mlrb/kit/processes/process-table";
import { listenersIn } from "@mlrb/kit/services/own-connection";
import { ifReadable } from "../store/if-readable.ts";

/** `root`: the pid of the service's first process; undefined for none. `unknown`: not Linux, or without its tables. */
export function portOwner(port: number, root: number | undefined): "own" | "other" | "nobody" | "unknown" {
  if (process.platform !== "linux") return "unknown";
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((table) =>
    ifReadable(() => readFileSync(table, "latin1")),
  );
  if (tables[0] === undefined) return "unknown";
  const sockets = new Set(tables.flatMap((table) => listening(table ?? "", port)));
  if (sockets.size === 0) return "nobody";
  for (const pid of root === undefined ? [] : treeOf(root))
    for (const socket of socketsOf(pid)) sockets.delete(socket);
  return sockets.size === 0 ? "own" : "other"; // several may listen, and the system chooses one
}

/** The inodes of sockets that listen at the port, for any address: loopback calls may reach each. */
export function listening(table: string, port: number): string[] {
  return listenersIn(table, port).map(({ inode }) => inode);
}

/** A process and all that it started, and those again. */
function treeOf(root: number): Set<number> {
  const children = Map.groupBy(candidates(0), (pid) => Number(fieldsOf(`/proc/${pid}/stat`)?.[1] ?? 0));
  const tree = new Set([root]);
  for (const pid of tree) for (const child of children.get(pid) ?? []) tree.add(child);
  return tree;
}

function socketsOf(pid: number): string[] {
  const files = ifReadable(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return files.flatMap((file) => {
    const target = ifReadable(() => readlinkSync(`/proc/${pid}/fd/${file}`)) ?? "";
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
  });
}
