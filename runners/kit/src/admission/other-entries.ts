// What is in a submission's folder besides the files that loaders open. It is listed by name and never opened: the
// folder that scorers load is rebuilt from those files alone (ADR 35), so no other file can matter.
import { lstatSync, opendirSync } from "node:fs";
import { join } from "node:path";
import type { AdmissionReason, IgnoredEntry } from "@mlrb/formats/judged/admission";
import { clip } from "./clip.ts";
import { readingLimits } from "./reading-limits.ts";

/**
 * The entries of `folder` that are none of the files in `opened`: sorted by path, at most as many as
 * `readingLimits.entries`. Links are not followed and folders not entered. `odd`: entries in the place of a file that
 * loaders open, which are no plain file. `empty`: whether the folder holds nothing, or only folders.
 */
export function otherEntries(folder: string, opened: ReadonlySet<string>) {
  const ignored: IgnoredEntry[] = [];
  const odd: AdmissionReason[] = [];
  let empty = true;
  using entries = opendirSync(folder);
  for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
    const { name } = entry;
    const why = kindOf(join(folder, name));
    if (why !== "a folder") empty = false;
    // a folder in the place of a file is as no file
    if (!opened.has(name) || why === "a folder") ignored.push({ path: name, why });
    else if (why !== "a file")
      odd.push({ code: "odd-file", detail: `${clip(name)}: ${why}${copyLinks(why)}` });
    if (ignored.length === readingLimits.entries.max) break;
  }
  return { ignored: ignored.sort((a, b) => (a.path < b.path ? -1 : 1)), odd, empty };
}

/** Advice on a link, which is never followed; empty for other entries. */
export function copyLinks(why: string): string {
  return why.endsWith("symbolic link") ? "; links are not followed: copy what it points to, with cp -L" : "";
}

function kindOf(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return "a name that is not UTF-8";
    if (stats.isFile()) return "a file";
    if (stats.isDirectory()) return "a folder";
    return stats.isSymbolicLink() ? "a symbolic link" : "a device, pipe or socket";
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Where the model may be instead, as advice; empty if no name says so. */
export function weightsElsewhere(ignored: IgnoredEntry[]): string {
  const first = (pattern: RegExp, why: string) =>
    ignored.find((entry) => entry.why === why && pattern.test(entry.path));
  const pickle = first(/model.*\.(bin|pt|pth|ckpt|pkl)$/, "a file");
  if (pickle)
    return `; ${clip(pickle.path)} may be a pickle, which is never opened: save the model with save_pretrained(…, safe_serialization=True)`;
  const other = first(/^(?!adapter_).*\.(safetensors|gguf|onnx|h5|msgpack)$/, "a file");
  if (other) return `; loaders open no file named ${clip(other.path)}: save the model with save_pretrained`;
  const inside = ignored.find((entry) => entry.why === "a folder");
  return inside
    ? `; folders such as ${clip(inside.path)} are not opened: put the model's files at the top`
    : "";
}
