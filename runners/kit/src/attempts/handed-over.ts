// What an agent gets of a folder that is handed over to it: the one list from which the folder is copied into a
// sandbox, digested for the trajectory, and keyed. So nothing reaches an agent that its attempt's key does not cover.
//
// Everything is handed over under its own name, files whose names begin with a dot, node_modules and backups of
// editors included. A relative link that stays inside the folder stays a link. A link that leads out of it, on its
// way too, is replaced by the file that it leads to. Byte code is left behind: an interpreter writes it while it runs.
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";

export type HandedOver = {
  /** From the folder, with `/`. */
  path: string;
} & ({ kind: "folder" } | { kind: "file"; executable: boolean } | { kind: "link"; target: string });

/** Something in the folder cannot be given to an agent as it is. The message names it and the way out. */
export class CannotHandOver extends Error {}

/** Names that are left behind at any depth. */
export function isLeftBehind(name: string): boolean {
  return name === "__pycache__";
}

/** Of modes an agent sees only whether a file can be executed. */
export function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

const entriesMax = 200_000;

/** The system's, which is what opens files. Node's own takes `link/..` for the folder that the link stands in. */
const realPath = realpathSync.native;

/**
 * The entries of `folder`, each folder before what it holds, names in code-unit order. Throws CannotHandOver for
 * links that lead nowhere or out to a folder, and for what is neither file, folder nor link.
 */
export function handedOver(folder: string): HandedOver[] {
  const root = realPath(folder);
  const entries: HandedOver[] = [];
  const refuse = (path: string, why: string): never => {
    throw new CannotHandOver(`${join(folder, path)} cannot be given to an agent: ${why}`);
  };
  const enter = (inside: string) => {
    for (const name of readdirSync(join(root, inside)).sort()) {
      if (isLeftBehind(name)) continue;
      const path = inside === "" ? name : `${inside}/${name}`;
      if (name.includes("\ufffd")) refuse(path, "its name is not UTF-8; rename it");
      if (entries.length === entriesMax) refuse(path, `the folder holds more than ${entriesMax} files`);
      const stats = lstatSync(join(root, path));
      if (stats.isDirectory()) {
        entries.push({ path, kind: "folder" });
        enter(path);
      } else if (stats.isFile()) {
        entries.push({ path, kind: "file", executable: isExecutable(stats.mode) });
      } else if (stats.isSymbolicLink()) {
        entries.push(linkIn(root, path, refuse));
      } else refuse(path, "it is neither a file, a folder nor a link; remove it");
    }
  };
  enter("");
  return entries;
}

function linkIn(root: string, path: string, refuse: (path: string, why: string) => never): HandedOver {
  const target = readlinkSync(join(root, path));
  let real: string;
  try {
    real = realPath(join(root, path));
  } catch {
    return refuse(path, `it is a link to ${target}, which leads nowhere; remove it`);
  }
  if (!isAbsolute(target) && staysInside(root, dirname(path), target)) return { path, kind: "link", target };
  const stats = statSync(real);
  if (!stats.isFile())
    refuse(path, `it is a link out of the folder, to ${target}; only a link to a file may be`);
  return { path, kind: "file", executable: isExecutable(stats.mode) };
}

/** Whether every step of the way is part of what is handed over: a copy of the folder may have another name. */
function staysInside(root: string, from: string, target: string): boolean {
  let at = realPath(join(root, from));
  for (const step of target.split("/")) {
    at = step === ".." ? dirname(at) : realPath(join(at, step));
    if (!isInside(root, at) || relative(root, at).split(sep).some(isLeftBehind)) return false;
  }
  return true;
}

function isInside(root: string, path: string): boolean {
  const from = relative(root, path);
  return from === "" || (from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from));
}
