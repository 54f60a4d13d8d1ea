// The entries of a folder that is given to an agent. This one list is copied into a sandbox, digested for the
// trajectory, and keyed, so nothing reaches an agent that its attempt's key does not cover.
//
// Every entry keeps its name, including dot files, node_modules and editor backups. A relative link that stays
// inside the folder stays a link. A link that leaves the folder, even on its way, is replaced by its target file.
// Byte code is left out, since an interpreter writes it while it runs.
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { quiet } from "../processes/process-table.ts";

export type HandedOver = {
  /** From the folder, with `/`. */
  path: string;
} & ({ kind: "folder" } | { kind: "file"; executable: boolean } | { kind: "link"; target: string });

/** An entry of the folder cannot be given to an agent. The message names it and the way out. */
export class CannotHandOver extends Error {}

/** Names that are left out at any depth. */
export function isLeftBehind(name: string): boolean {
  return name === "__pycache__";
}

/** The only part of a file's mode that an agent sees. */
export function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

const entriesMax = 200_000;

/** The system's function, which resolves paths as opening does. Node's own resolves `link/..` to the link's folder. */
const realPath = realpathSync.native;

/**
 * The entries of `folder`, each folder before its contents, names in code-unit order. Throws CannotHandOver for
 * broken links, links to folders outside, and special files.
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
  const real = quiet(() => realPath(join(root, path)));
  if (real === undefined) return refuse(path, `it is a link to ${target}, which leads nowhere; remove it`);
  if (!isAbsolute(target) && staysInside(root, dirname(path), target)) return { path, kind: "link", target };
  const stats = statSync(real);
  if (!stats.isFile())
    refuse(path, `it is a link out of the folder, to ${target}; only a link to a file may be`);
  return { path, kind: "file", executable: isExecutable(stats.mode) };
}

/** Whether every step of the link is inside the folder: a copy of the folder may have another name. */
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
