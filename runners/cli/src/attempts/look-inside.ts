// Looks at a file or a folder inside an attempt's record by the parts of an address. The files are an agent's: links are
// never followed, and no part leads out.
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { ListedFile } from "@mlrb/report/page/served-pages";

const bytesMax = 256 << 10;
const filesMax = 5000;

export type Inside =
  | { kind: "folder"; names: string[]; files: ListedFile[]; more: number }
  | { kind: "file"; names: string[]; text: string | null; bytes: number; cut: boolean }
  | { kind: "none" };

/** `parts` are percent-encoded; an empty last one asks for a folder. */
export function lookInside(folder: string, parts: readonly string[]): Inside {
  const names = namesOf(parts);
  if (names === undefined) return { kind: "none" };
  let path = folder;
  for (const [at, name] of names.entries()) {
    path = join(path, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isLast = at === names.length - 1;
    if (!found || (!found.isDirectory() && !(isLast && found.isFile()))) return { kind: "none" };
  }
  const isFolder = lstatSync(path).isDirectory();
  if (isFolder !== (parts.at(-1) === "")) return { kind: "none" };
  return isFolder ? { kind: "folder", names, ...listed(path) } : { kind: "file", names, ...beginning(path) };
}

/** Undefined for a part that is malformed or would lead elsewhere. */
function namesOf(parts: readonly string[]): string[] | undefined {
  const given = parts.at(-1) === "" ? parts.slice(0, -1) : parts;
  try {
    const names = given.map(decodeURIComponent);
    return names.some((name) => name === "" || name === "." || name === ".." || /[/\\\0]/.test(name))
      ? undefined
      : names;
  } catch {
    return undefined;
  }
}

/** The first files by name; `more`: how many others there are. */
function listed(path: string): { files: ListedFile[]; more: number } {
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.slice(0, filesMax).map((entry): ListedFile => {
    // a name that is not UTF-8 is decoded to one that no file has
    const found = lstatSync(join(path, entry.name), { throwIfNoEntry: false });
    const kind = found?.isFile() ? "file" : found?.isDirectory() ? "folder" : "other";
    return { name: entry.name, kind, bytes: kind === "file" ? found!.size : 0 };
  });
  return { files, more: entries.length - files.length };
}

function beginning(path: string): { text: string | null; bytes: number; cut: boolean } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const bytes = fstatSync(file).size;
    const piece = Buffer.alloc(Math.min(bytes, bytesMax));
    const read = piece.subarray(0, readSync(file, piece, 0, piece.length, 0));
    const cut = bytes > bytesMax;
    try {
      // a cut may be inside of a character, which streams allow
      const text = new TextDecoder("utf-8", { fatal: true }).decode(read, { stream: cut });
      return { text: text.includes("\0") ? null : text, bytes, cut };
    } catch {
      return { text: null, bytes, cut };
    }
  } finally {
    closeSync(file);
  }
}
