// The files without a name that the processes of a sandbox keep on a disk, as far as another process of their user
// can see. Descriptors and mappings show in /proc. The content of a socket's queue does not: only its number of
// descriptors does (scm_fds in fdinfo, Linux 5.6), also on a socket that listens.
import { readdirSync, type Stats, statSync } from "node:fs";
import { fieldsOf, quiet, textOf } from "./process-table.ts";

export type OpenFiles = {
  /** Bytes on the disk in deleted files that a descriptor holds. */
  openBytes: number;
  /** Bytes of mappings of deleted files that no descriptor holds. The files may be larger, and with holes smaller. */
  mappedBytes: number;
  /**
   * Whether descriptors may be where this look cannot count them: in the queues of sockets, or in a process that
   * ended before its turn or cannot be read.
   */
  hidden: boolean;
};

type Found = { open: Map<number, number>; mapped: Map<number, number>; queued: boolean };

/** A process that ends and leaves its descriptors to a successor is followed for this many generations. */
const rounds = 8;
const exiting = 0x4; // PF_EXITING in the flags of a process

/** `device`: the disk, as numbered by stat. `find` lists the processes that live now. */
export function openFiles(find: () => readonly number[], device: number): OpenFiles {
  const found: Found = { open: new Map(), mapped: new Map(), queued: false };
  const read = new Set<number>();
  let missed = true;
  for (let round = 0; round < rounds && missed; round++) {
    missed = false;
    for (const pid of find().filter((one) => !read.has(one))) {
      const readNow = addFiles(pid, device, found);
      if (!readNow) missed = true;
      // a dead process that is listed until it is reaped holds nothing, but may have had a successor
      if (readNow || fieldsOf(`/proc/${pid}/stat`)?.[0] === "Z") read.add(pid);
    }
  }
  for (const inode of found.open.keys()) found.mapped.delete(inode);
  return { openBytes: sum(found.open), mappedBytes: sum(found.mapped), hidden: found.queued || missed };
}

/** False if the process ended before it was read, or cannot be read. */
function addFiles(pid: number, device: number, found: Found): boolean {
  const descriptors = descriptorsOf(pid);
  if (!descriptors) return false;
  for (const { at, name } of descriptors) {
    const stats = quiet(() => statSync(`${at}/fd/${name}`));
    if (stats?.isFile() && isNameless(stats, device)) found.open.set(stats.ino, 512 * stats.blocks);
    if (stats?.isSocket() && /^scm_fds:\s*[1-9]/m.test(textOf(`${at}/fdinfo/${name}`))) found.queued = true;
  }
  for (const [inode, bytes] of deletedMappings(textOf(`/proc/${pid}/maps`), device))
    found.mapped.set(inode, Math.max(bytes, found.mapped.get(inode) ?? 0));
  return true;
}

/** All threads of a process share its descriptors: the sandbox's filter refuses threads with others. */
function descriptorsOf(pid: number): { at: string; name: string }[] | undefined {
  const all = quiet(() => readdirSync(`/proc/${pid}/fd`));
  if (all && all.length > 0) return all.map((name) => ({ at: `/proc/${pid}`, name }));
  // its first thread may have ended before the others
  for (const thread of quiet(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    const at = `/proc/${pid}/task/${thread}`;
    const names = quiet(() => readdirSync(`${at}/fd`));
    if (names && names.length > 0) return names.map((name) => ({ at, name }));
  }
  const fields = fieldsOf(`/proc/${pid}/stat`);
  const living = fields !== undefined && !"ZXx".includes(fields[0]!) && (Number(fields[6]) & exiting) === 0;
  return living && (all || isOthers(pid)) ? [] : undefined;
}

/** Whether it is no program of the sandbox, but e.g. the first process of a container. Programs run as this user. */
function isOthers(pid: number): boolean {
  const uid = /^Uid:\t(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1];
  return uid !== undefined && Number(uid) !== process.getuid?.();
}

function isNameless({ nlink, dev }: Stats, device: number): boolean {
  return nlink === 0 && dev === device;
}

/** Mapped bytes by inode, from the lines of `maps`: `ADDRESS-ADDRESS rw-s OFFSET MAJOR:MINOR INODE PATH (deleted)`. */
export function deletedMappings(maps: string, device: number): Map<number, number> {
  const found = new Map<number, number>();
  const line = /^([0-9a-f]+)-([0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$/gm;
  for (const [, from, to, major, minor, inode] of maps.matchAll(line)) {
    if (deviceNumber(Number(`0x${major}`), Number(`0x${minor}`)) !== device) continue;
    const bytes = Number(`0x${to}`) - Number(`0x${from}`);
    found.set(Number(inode), bytes + (found.get(Number(inode)) ?? 0));
  }
  return found;
}

/** As stat numbers it (makedev of glibc), below 2^32. */
function deviceNumber(major: number, minor: number): number {
  return (major & 0xfff) * 256 + (minor & 0xff) + (minor >>> 8) * 2 ** 20;
}

function sum(bytes: ReadonlyMap<number, number>): number {
  return [...bytes.values()].reduce((all, one) => all + one, 0);
}
