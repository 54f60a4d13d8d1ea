// Checks a path or pattern that a stage declares to read. A slip would leave a file out of the stage's key, and
// after an edit of that file an old result would be reused.
import { globFolder, isGlob } from "../text/glob.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { parseImageReference, unpinnedBases } from "./image-reference.ts";
import type { Sources } from "./sources.ts";

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

export function outsideRepository(file: string): Diagnostic | undefined {
  if (!/^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(file)) return undefined;
  const help = "write a path from the repository's root, without ..";
  return { code: "outside-repository", message: `${file} is outside the repository`, help };
}

/** A file or a folder that a manifest names. One with an axis in braces is checked where the axis is known. */
export function checkNamedPath(
  path: string,
  kinds: readonly ("file" | "dir")[],
  sources: Sources,
): Diagnostic | undefined {
  const outside = outsideRepository(path);
  if (outside || /\{[\w-]+\}/.test(path)) return outside;
  const kind = sources.kind(path);
  if (kind !== undefined && kinds.includes(kind)) return undefined;
  const problem = unknownFile(path, sources);
  return kinds[0] === "file"
    ? problem
    : { ...problem, code: "unknown-folder", message: `there is no folder ${path}` };
}

/** `image:` of a stage or an agent: what it names exists and is pinned. */
export function checkImage(image: string, sources: Sources): Diagnostic | undefined {
  const reference = parseImageReference(image);
  if (reference.kind === "refused")
    return { code: "image-not-pinned", message: reference.message, help: reference.help };
  if (reference.kind !== "dockerfile") return undefined;
  const text = sources.read(reference.file);
  if (text === undefined) {
    const help = "paths are relative to the repository's root";
    return { code: "unknown-file", message: `there is no file ${image}`, help };
  }
  const bases = unpinnedBases(text);
  if (bases.length === 0) return undefined;
  return {
    code: "image-not-pinned",
    message: `${image} is built from ${bases.join(", ")}, which is not pinned to a digest`,
    help: `name each base by digest: FROM NAME@sha256:…; \`node scripts/pin-images.ts ${reference.file}\` pulls each base and writes its digest`,
  };
}

/** The diagnostic for a missing file, with a guess at the intended one and without a place. */
export function unknownFile(file: string, sources: Sources): Diagnostic & { help: string } {
  const folder = file.split("/").slice(0, -1).join("/");
  const near = sources.list(folder).map((entry) => (folder ? `${folder}/${entry}` : entry));
  const help = near.length > 0 ? didYouMean(file, near) : "paths are relative to the repository's root";
  return { code: "unknown-file", message: `there is no file ${file}`, help };
}
