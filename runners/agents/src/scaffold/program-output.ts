// Collects any amount of a program's output: the first and last kilobytes in memory, the first megabytes in a file
// of the host, and the number of bytes.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

export type ProgramOutput = ReturnType<typeof programOutput>;

/** Bytes that are kept for the workspace. */
const fileMax = 32 << 20;
const edgeMax = 64 << 10;

/** `scratch` is a host folder. `take` throws if its disk is full. */
export function programOutput(scratch: string) {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let bytes = 0;
  let kept = 0;
  let ended = false;
  let spill: { folder: string; path: string; file: number } | undefined;

  const open = () => {
    const folder = mkdtempSync(join(scratch, "output-"));
    const path = join(folder, "output");
    spill = { folder, path, file: openSync(path, "wx") };
    put(spill.file, head);
    return spill;
  };
  const put = (file: number, piece: Uint8Array) => {
    for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
    kept += piece.length;
  };

  return {
    take(piece: Uint8Array) {
      if (ended || piece.length === 0) return;
      if (head.length + piece.length > edgeMax || spill) {
        const { file } = spill ?? open();
        if (kept < fileMax) put(file, piece.subarray(0, fileMax - kept));
      }
      if (head.length < edgeMax) head = Buffer.concat([head, piece.subarray(0, edgeMax - head.length)]);
      tail = Buffer.concat([tail, piece.subarray(-edgeMax)]).subarray(-edgeMax);
      bytes += piece.length;
    },
    /** Drops later output. */
    end() {
      ended = true;
      return { head, tail, bytes, kept: spill ? kept : bytes };
    },
    /** A host file with the beginning of the output. It exists until `remove`. */
    file: () => (spill ?? open()).path,
    remove() {
      if (!spill) return;
      closeSync(spill.file);
      rmSync(spill.folder, { recursive: true, force: true });
      spill = undefined;
    },
  };
}
