// Admission of a submission that is a program: whether its folder may be copied and its main.py be run in the sandbox. Only
// plain files and folders are taken, within limits. Links, pipes and devices are left out and listed. Nothing is opened or run.
import { constants, copyFileSync, lstatSync, mkdirSync, opendirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Admission, AdmissionReason, IgnoredEntry } from "@mlrb/formats/judged/admission";

/** The program that is run, and the folder of the clean submission that holds it, as programs/answers.py reads it. */
const mainProgram = "main.py";
const programFolder = "program";

export const programLimits = { entries: 10_000, depth: 16, pathBytes: 1024, bytes: 20 * 2 ** 30 };
const listedMax = 100;

type Found = { files: string[]; folders: string[]; bytes: number; ignored: IgnoredEntry[]; over?: string };

/** Every reason against running the program. */
export function admitProgram(folder: string): Admission {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return answer([{ code: "empty", detail: "no submission: there is no folder" }]);
  const { files, ignored, over } = programFiles(folder);
  if (over !== undefined) return answer([{ code: "over-limits", detail: over }], ignored);
  if (files.length + ignored.length === 0)
    return answer([{ code: "empty", detail: "no submission: the folder holds no file" }]);
  if (!files.includes(mainProgram))
    return answer([{ code: "no-program", detail: `${mainProgram} is not there, or no plain file` }], ignored);
  return answer([], ignored);
}

/** Copies the files of an admitted program to `to`/program. */
export function writeCleanProgram(folder: string, to: string): void {
  for (const path of programFiles(folder).files) {
    const target = join(to, programFolder, path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(folder, path), target, constants.COPYFILE_FICLONE);
  }
}

function answer(reasons: AdmissionReason[], ignored: IgnoredEntry[] = []): Admission {
  const left = ignored.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    formatVersion: 1,
    admitted: reasons.length === 0,
    reasons,
    ...(left.length > 0 && { ignored: { count: left.length, first: left.slice(0, listedMax) } }),
  };
}

/** The files below `folder` by their relative path. Stops at the first limit that is exceeded. */
function programFiles(folder: string): Found {
  const found: Found = { files: [], folders: [""], bytes: 0, ignored: [] };
  let entries = 0;
  for (let below = found.folders.shift(); below !== undefined; below = found.folders.shift()) {
    const opened = opendirSync(join(folder, below));
    try {
      for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
        entries += 1;
        const path = join(below, entry.name);
        const { pathBytes } = programLimits;
        if (Buffer.byteLength(path) > pathBytes) return { ...found, over: `paths over ${pathBytes} bytes` };
        takeEntry(folder, path, found);
        const over = overLimit(entries, below, found.bytes);
        if (over !== undefined) return { ...found, over };
      }
    } finally {
      opened.closeSync();
    }
  }
  found.files.sort();
  return found;
}

function takeEntry(folder: string, path: string, found: Found): void {
  const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
  const ignore = (why: string) => found.ignored.push({ path: path.slice(0, 200), why });
  if (stats?.isDirectory()) found.folders.push(path);
  else if (stats?.isFile()) {
    found.files.push(path);
    found.bytes += stats.size;
  } else if (stats === undefined) ignore("a name that is not UTF-8");
  else ignore(stats.isSymbolicLink() ? "a symbolic link" : "a device, pipe or socket");
}

function overLimit(entries: number, below: string, bytes: number): string | undefined {
  if (entries > programLimits.entries) return `more than ${programLimits.entries} files and folders`;
  if (below.split("/").length > programLimits.depth) return `folders deeper than ${programLimits.depth}`;
  if (bytes > programLimits.bytes) return `more than ${programLimits.bytes / 2 ** 30} GiB`;
  return undefined;
}
