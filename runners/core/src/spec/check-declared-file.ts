// Checks a path or pattern that a stage declares to read. A slip would leave a file out of the stage's key, and after an
// edit of that file an old result would be reused.
import { globFolder, isGlob } from "../text/glob.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Sources } from "./manifest.ts";

/** A plain path must be a file. A pattern may match nothing yet, but its folder must exist. */
export function checkDeclaredFile(pattern: string, sources: Sources): Diagnostic | undefined {
  if (!isGlob(pattern)) {
    const kind = sources.kind(pattern);
    if (kind === undefined) return unknownFile(pattern, sources);
    if (kind === "file") return undefined;
    const help = `all files in it: ${pattern.replace(/\/+$/, "")}/**`;
    return { code: "is-folder", message: `${pattern} is a folder, not a file`, help };
  }
  const folder = globFolder(pattern);
  if (folder === "" || sources.kind(folder) === "dir") return undefined;
  const { help } = unknownFile(folder, sources);
  return { code: "unknown-folder", message: `there is no folder ${folder} for ${pattern}`, help };
}

/** The diagnostic for a missing file, with a guess at the intended one and without a place. */
export function unknownFile(file: string, sources: Sources): Diagnostic & { help: string } {
  const folder = file.split("/").slice(0, -1).join("/");
  const near = sources.list(folder).map((entry) => (folder ? `${folder}/${entry}` : entry));
  const help = near.length > 0 ? didYouMean(file, near) : "paths are relative to the repository's root";
  return { code: "unknown-file", message: `there is no file ${file}`, help };
}
