// Images of tasks whose submission is a program. Agents get the images of training with their labels. The program gets the
// test images without labels, and the scorers the labels (scorer_library/programs/labels.py reads this layout).
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRows } from "./smoke-stage.ts";

/** `file`: the image's bytes, in the format that `extension` names. */
export type LabelledImage = { id: string; label: string | number; file: Uint8Array; extension: string };

/** `column`: the label's name in the data set and in submission.csv. The limits are those of one run of a program. */
export type ProgramTest = { column: string; seconds: number; memoryBytes: number };

/** Writes SPLIT.jsonl, with `image`, `image_id` and the label, and the images below SPLIT/. */
export function writeSplit(open: string, split: string, images: LabelledImage[], column: string): void {
  const rows = images.map((image, at) => ({
    image: writeImage(open, split, at, image),
    image_id: image.id,
    [column]: image.label,
  }));
  writeRows(open, `${split}.jsonl`, rows);
}

/** Throws if two images share an id, or if an id would not fit into a line of images.csv. */
export function writeTest(hidden: string, images: LabelledImage[], test: ProgramTest): void {
  requireDistinct(images);
  const odd = images.find(({ id }) => !/^[^",\r\n]{1,100}$/.test(id));
  if (odd) throw new Error(`the id of a test image does not fit into a CSV file: ${JSON.stringify(odd.id)}`);
  const folder = join(hidden, "test");
  const lines = images.map((image, at) => `${image.id},${writeImage(folder, "images", at, image)}\n`);
  writeFileSync(join(folder, "images.csv"), `image_id,image\n${lines.join("")}`);
  writeRows(
    hidden,
    "labels.jsonl",
    images.map(({ id, label }) => ({ id, label: String(label) })),
  );
  writeFileSync(join(hidden, "program.json"), `${JSON.stringify(test)}\n`);
}

/** Throws if two images share an id. */
export function requireDistinct(images: LabelledImage[]): void {
  const ids = new Set(images.map(({ id }) => id));
  if (ids.size < images.length) throw new Error(`${images.length - ids.size} test images share an id`);
}

/** The image's path from `folder`. Its name is its place in the list, since ids may be anything. */
function writeImage(folder: string, below: string, at: number, { file, extension }: LabelledImage): string {
  mkdirSync(join(folder, below), { recursive: true });
  const path = `${below}/${String(at).padStart(6, "0")}.${extension}`;
  writeFileSync(join(folder, path), file);
  return path;
}

/** A NumPy file (format 1.0) of unsigned bytes, which `numpy.load` reads without an image library. */
export function npyFile(pixels: Uint8Array, shape: number[]): Uint8Array {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const about = `{'descr': '|u1', 'fortran_order': False, 'shape': (${sizes}), }`;
  const start = 10;
  const length = Math.ceil((start + about.length + 1) / 64) * 64 - start;
  const header = Buffer.from(`\x93NUMPY\x01\x00??${about.padEnd(length - 1)}\n`, "latin1");
  header.writeUInt16LE(length, start - 2);
  return Buffer.concat([header, pixels]);
}
