// Inspects the outputs of a stage before they are read: refuses names that cannot be kept, and too many bytes. A
// sparse file of a terabyte uses no disk space and takes hours to hash.
import { lstatSync, readdirSync, type Stats, statfsSync } from "node:fs";
import { join } from "node:path";
import { formatBytes } from "@mlrb/core/text/units";
import { inodeOf } from "../store/content-store.ts";

/** An output that cannot be kept, through its stage's fault. `message` continues after the output's name. */
export class OddOutput extends Error {}

/** A path within an output. The path of the output's folder is added in front, and systems allow 4 096 bytes. */
const pathBytesMax = 2048;

/** The lstat of every file at and below `path`, by path. Throws OddOutput. */
export function givenFiles(path: string, into: Map<string, Stats>, inside = ""): void {
  const stats = lstatSync(path);
  into.set(path, stats);
  if (!stats.isDirectory()) return;
  for (const bytes of readdirSync(path, { encoding: "buffer" })) {
    const name = bytes.toString("utf8");
    if (!Buffer.from(name).equals(bytes))
      throw new OddOutput(
        `holds ${shownName(inside, bytes)}, a name that is not UTF-8; write it under another name`,
      );
    const below = inside === "" ? name : `${inside}/${name}`;
    if (Buffer.byteLength(below) > pathBytesMax)
      throw new OddOutput(
        `holds ${shownName("", Buffer.from(below)).slice(0, 80)}…, a path of more than ${pathBytesMax} bytes; use shorter names or fewer folders`,
      );
    givenFiles(join(path, name), into, below);
  }
}

/** In ASCII and quoted, with escapes, so that terminals and reports can show the name. */
function shownName(inside: string, bytes: Buffer): string {
  const whole = inside === "" ? bytes : Buffer.concat([Buffer.from(`${inside}/`), bytes]);
  const escaped = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return `"${whole.toString("latin1").replace(/[^ !#-[\]-~]/g, escaped)}"`;
}

/**
 * Throws OddOutput where the files together exceed `limit`. Without a limit, throws where they exceed the size of
 * their disk: only sparse files do, and every reader gets copies.
 */
export function checkSize(files: ReadonlyMap<string, Stats>, limit: number | undefined): void {
  const all = [
    ...new Map([...files.values()].filter((one) => one.isFile()).map((one) => [inodeOf(one), one])).values(),
  ];
  const bytes = all.reduce((sum, { size }) => sum + size, 0);
  if (limit !== undefined && bytes > limit)
    throw new OddOutput(
      `takes ${formatBytes(bytes)} with the others, and limits.disk allows ${formatBytes(limit)}`,
    );
  const [first] = files.keys();
  const taken = all.reduce((sum, { blocks }) => sum + blocks * 512, 0);
  if (first === undefined || bytes <= taken) return;
  const { bavail, bsize } = statfsSync(first);
  const room = taken + bavail * bsize;
  if (bytes > room)
    throw new OddOutput(
      `takes ${formatBytes(bytes)} with the others, more than the ${formatBytes(room)} that the disk has for it; is a file of it sparse by mistake?`,
    );
}
