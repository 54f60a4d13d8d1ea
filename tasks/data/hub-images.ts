// Official images: agents get the splits of training as the hub has them, and the test split becomes the program's test.
import { hash } from "node:crypto";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import { downloadedFolder, readCollected } from "@mlrb/kit/collected";
import { stage } from "@mlrb/kit/stage";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { hubConfigs } from "./hub-rows.ts";
import { type LabelledImage, type ProgramTest, requireDistinct, writeTest } from "./image-data.ts";
import { writeRows } from "./smoke-stage.ts";

/** `source`: the download. `name`: the hub's name of the data set. `splits`: those that agents get. */
type Official = { source: string; name: string; splits: string[]; test: ProgramTest };

/** Throws if the data set has other splits, or test images without labels. */
export async function officialImages({ source, name, splits, test }: Official): Promise<void> {
  const { inputs, outputs } = stage();
  if (!("manifest" in inputs))
    throw new Error("official data is made of downloads: name their manifest with --input manifest=FILE");
  const folder = downloadedFolder(readCollected(inputs.manifest!), source);
  const [config] = hubConfigs(folder).values();
  const filesOf = (split: string) => {
    const files = config!.get(split);
    if (files) return files;
    throw new Error(`${source} has no split ${split}, only ${[...config!.keys()].join(", ")}`);
  };
  // without the card, which names the files of the test split: load_dataset finds the others by their names
  for (const file of splits.flatMap(filesOf)) {
    const target = join(outputs.public!, name, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(folder, file), target);
  }
  const images: LabelledImage[] = [];
  for (const file of filesOf("test")) images.push(...(await imagesIn(join(folder, file), test.column)));
  requireDistinct(images);
  const ordered = inNeutralOrder(images);
  const neutral = ordered.map((image, at) => ({ ...image, id: `image-${String(at).padStart(6, "0")}` }));
  writeTest(outputs.private!, neutral, test);
  const ids = ordered.map(({ id }, at) => ({ id: neutral[at]!.id, hub: id }));
  writeRows(outputs.private!, "ids.jsonl", ids);
}

/** The order says nothing about labels: the hub's rows may be sorted by class, and its ids may name the class. */
function inNeutralOrder(images: LabelledImage[]): LabelledImage[] {
  const hashed = images.map((image) => ({ image, order: hash("sha256", image.file) + image.id }));
  return hashed.sort((a, b) => (a.order < b.order ? -1 : 1)).map(({ image }) => image);
}

async function imagesIn(path: string, column: string): Promise<LabelledImage[]> {
  // utf8: false, since images are bytes; columns of text say that they are
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors, utf8: false });
  return rows.map(({ image, image_id: id, [column]: label }, at) => {
    const bytes = isTable(image) ? image.bytes : image;
    if (!(bytes instanceof Uint8Array)) throw new Error(`row ${at} of ${path} has no image`);
    if (id === undefined || id === null) throw new Error(`row ${at} of ${path} has no image_id`);
    const shown = label === undefined || label === null ? "" : String(label);
    if (shown === "" || Number(shown) < 0)
      throw new Error(
        `row ${at} of ${path} has no label in ${column}: the hub may keep the labels of the test split to itself, and ` +
          "without them nothing can be scored",
      );
    const named = isTable(image) && typeof image.path === "string" ? extname(image.path).slice(1) : "";
    return {
      id: String(id),
      label: shown,
      file: bytes,
      extension: /^[a-z]{1,5}$/i.test(named) ? named : formatOf(bytes),
    };
  });
}

function formatOf(bytes: Uint8Array): string {
  return bytes[0] === 0x89 ? "png" : bytes[0] === 0xff ? "jpg" : "bin";
}
