// Preloaded into the script of an attempt, which no guard may end. Records which files of the repository the
// script reads without a declaration. Node's permission model cannot do this, even with --permission-audit: it
// removes fsync, which records need. The recorder only writes notes; it changes no result and throws nothing.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The content of the file that MLRB_RECORDER names. All paths are absolute. */
export type Recorded = {
  /** Reads in this folder count, except those in `apart`. */
  root: string;
  apart: string[];
  /** Files and folders that are declared. */
  reads: string[];
  /** The file for undeclared reads: one JSON line each. */
  refusals: string;
};

type Call = (...args: unknown[]) => unknown;

const file = process.env.MLRB_RECORDER;
delete process.env.MLRB_RECORDER; // programs that the script starts are not recorded
if (file !== undefined) record(JSON.parse(fs.readFileSync(file, "utf8")) as Recorded);

// otherwise Node would pass its flags to every Node that the script starts
process.execArgv = process.execArgv.filter((flag) => flag !== `--require=${import.meta.filename}`);

function record({ root, apart, reads, refusals }: Recorded): void {
  const known = new Set([...apart, ...reads]);
  const noted = new Set<string>();
  const { appendFileSync } = fs;
  const isKnown = (path: string) => {
    for (let above = path; above.length >= root.length; above = dirname(above))
      if (known.has(above)) return true;
    return false;
  };
  const note = (given: unknown) => {
    try {
      const path = resolve(given instanceof URL ? fileURLToPath(given) : String(given));
      if (!path.startsWith(`${root}/`) || noted.has(path) || isKnown(path)) return;
      noted.add(path);
      appendFileSync(refusals, `${JSON.stringify({ kind: "read", resource: path })}\n`);
    } catch {
      // a file descriptor, or a full disk: nothing is recorded
    }
  };
  const watched = (of: object, name: string) => {
    const calls = of as Record<string, Call>;
    const call = calls[name];
    if (call === undefined) return;
    const noting: Call = (...args) => {
      if (typeof args[0] !== "number" && !isWriting(name, args[1])) note(args[0]);
      return call.apply(of, args);
    };
    calls[name] = Object.defineProperties(noting, Object.getOwnPropertyDescriptors(call));
  };
  for (const name of ["open", "readFile", "copyFile", "cp"]) {
    watched(fs, name);
    watched(fs, `${name}Sync`);
    watched(fs.promises, name);
  }
  syncBuiltinESMExports();
}

function isWriting(name: string, flags: unknown): boolean {
  if (!name.startsWith("open")) return false;
  if (typeof flags === "number") return (flags & (fs.constants.O_WRONLY | fs.constants.O_TRUNC)) !== 0;
  return typeof flags === "string" && !flags.startsWith("r");
}
