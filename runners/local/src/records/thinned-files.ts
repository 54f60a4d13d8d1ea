// Which weights of which records were removed on purpose. A line is added before files are removed, so after a
// kill some of its files may still be there; they are used as before. Nothing is removed in place of a line.

import { join } from "node:path";
import { type ThinnedFile, type Thinning, thinning } from "@mlrb/formats/attempt/thinning";
import type { AbsentFiles } from "../digests/artifact-digest.ts";
import { appendLines, linesOf } from "./decision-log.ts";

export type Thinned = {
  /** By record, then by path from the record's folder. */
  files: ReadonlyMap<string, ReadonlyMap<string, ThinnedFile>>;
  /** The record from which a content was removed, by the content's digest. */
  contents: ReadonlyMap<string, string>;
};

/** The file's name in the folder of attempts. */
export const thinnedFileName = "thinned.jsonl";

export function readThinned(attempts: string): Thinned {
  const files = new Map<string, Map<string, ThinnedFile>>();
  const contents = new Map<string, string>();
  for (const { record, files: removed } of linesOf(thinning, join(attempts, thinnedFileName))) {
    const known = files.get(record) ?? new Map<string, ThinnedFile>();
    files.set(record, known);
    for (const file of removed) {
      known.set(file.path, file);
      contents.set(file.digest, record);
    }
  }
  return { files, contents };
}

/** A record's thinned files as those that count in its digests although they are gone. `folder`: the record's. */
export function absentFiles(
  folder: string,
  thinned: ReadonlyMap<string, ThinnedFile> | undefined,
): AbsentFiles {
  return new Map(
    [...(thinned?.values() ?? [])].map(({ path, digest, executable }) => [
      join(folder, path),
      { digest, ...(executable && { executable }) },
    ]),
  );
}

/** Returns once the lines are on disk. */
export function addThinnings(attempts: string, lines: Omit<Thinning, "formatVersion">[]): void {
  appendLines(
    join(attempts, thinnedFileName),
    lines.map((line) => ({ formatVersion: 1, ...line })),
  );
}

const formats = /\.(safetensors|bin|pt|pth|ckpt|gguf|onnx|h5|msgpack|npy|npz|pkl|pickle|tflite)$/i;
const texts = /\.(json|jsonl|txt|md|csv|tsv|yaml|yml|toml|py|log|html)$/i;

/** From this size on, a file that is no text by its name counts as weights. */
const largeBytes = 1 << 20;

/** Whether a file of a submission or of a snapshot holds weights, by its name and size. An agent chose both. */
export function isWeights(path: string, bytes: number): boolean {
  return formats.test(path) || (bytes >= largeBytes && !texts.test(path));
}
