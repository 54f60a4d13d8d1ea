// The only place where the report reads the disk: a collected file, which is untrusted. Causes contain no path,
// because they are in the report, and a report has the same bytes on every machine.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import type { Reading } from "@mlrb/formats/read-format";

/** The text of an artifact, or why there is none; causes contain no path. */
export type ReadText = (artifact: { path: string; kind: "file" | "dir" }) => Reading<string>;

/** As ReadText, for texts that need not become one string. */
export type ReadSamples = (artifact: { path: string; kind: "file" | "dir" }) => Reading<Uint8Array | string>;

const bytesMax = 256 * 1024 ** 2;

/** The text of a collected file of at most 256 MiB, or why it cannot be read. Links are not followed. */
export const readArtifact: ReadText = (artifact) => {
  const bytes = readArtifactBytes(artifact);
  if (bytes.kind !== "ok") return bytes;
  try {
    return { kind: "ok", value: new TextDecoder("utf-8", { fatal: true }).decode(bytes.value) };
  } catch {
    return { kind: "unreadable", cause: "not UTF-8 text" };
  }
};

/** The same without decoding. */
export function readArtifactBytes({ path, kind }: Parameters<ReadText>[0]): Reading<Uint8Array> {
  if (kind !== "file") return { kind: "unreadable", cause: "a folder where a file should be" };
  let file: number | undefined;
  try {
    // Non-blocking, or a pipe in the file's place would block the stage.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return { kind: "unreadable", cause: "not a regular file" };
    if (stats.size > bytesMax) {
      return { kind: "unreadable", cause: `${stats.size} bytes, over ${bytesMax}` };
    }
    return { kind: "ok", value: readFileSync(file) };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { kind: "unreadable", cause: code === "ELOOP" ? "a symbolic link" : (code ?? name) };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
