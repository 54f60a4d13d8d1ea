// A program: searches one archive or table for n-grams of scored rows. A process of its own: an agent may pack a file
// so that opening it takes all memory. Prints each n-gram when it is found, one a line: those before its kill count.
//   node search-packed.ts PRIVATE_FOLDER MEASURE_JSON FILE SCRATCH BYTES_MAX
import { writeSync } from "node:fs";
import { overlapMeasure } from "@mlrb/formats/judged/overlap";
import { mustFollow } from "@mlrb/formats/read-format";
import { scoredRows } from "../hub/contents/scored-rows.ts";
import { searchFile } from "../hub/contents/search-content.ts";
import { Unreadable } from "../hub/contents/unreadable.ts";
import { NgramIndex } from "./ngram-index.ts";
import { OverlapSearch } from "./overlap-search.ts";

const [folder, measure, file, scratch, bytesMax] = process.argv.slice(2);
const declared = mustFollow(overlapMeasure, JSON.parse(measure!), "the measure");
const index = new NgramIndex(await scoredRows(folder!), declared);
const found = new (class extends Set<number> {
  override add(ngram: number): this {
    if (!this.has(ngram)) writeSync(1, `${ngram}\n`);
    return super.add(ngram);
  }
})();
const raw = () => new OverlapSearch(index, found);
try {
  const limits = { bytesMax: Number(bytesMax), closedBytesMax: 0 };
  await searchFile(file!, { search: raw(), raw, scratch: scratch!, strict: false, ...limits });
} catch (error) {
  // the last line says why not all was searched
  writeSync(1, `${error instanceof Unreadable ? error.message : "it is damaged"}\n`);
}
