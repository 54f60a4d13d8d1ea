// A program: searches one archive or table for n-grams of scored rows and prints one JSON answer. A process of its
// own: an agent may pack a file so that opening it takes all memory.
//   node search-packed.ts PRIVATE_FOLDER MEASURE_JSON FILE SCRATCH BYTES_MAX
import { overlapMeasure } from "@mlrb/formats/judged/overlap";
import { mustFollow } from "@mlrb/formats/read-format";
import { scoredRows } from "../hub/contents/scored-rows.ts";
import { searchFile, Unreadable } from "../hub/contents/search-content.ts";
import { NgramIndex } from "./ngram-index.ts";
import { OverlapSearch } from "./overlap-search.ts";

/** `unreadable`: why not all was searched. */
export type PackedAnswer = { ngrams: number[]; unreadable?: string };

const [folder, measure, file, scratch, bytesMax] = process.argv.slice(2);
const declared = mustFollow(overlapMeasure, JSON.parse(measure!), "the measure");
const search = new OverlapSearch(new NgramIndex(await scoredRows(folder!), declared));
let unreadable: string | undefined;
try {
  const request = { search, scratch: scratch!, strict: false, bytesMax: Number(bytesMax), closedBytesMax: 0 };
  await searchFile(file!, request);
} catch (error) {
  unreadable = error instanceof Unreadable ? error.message : "it is damaged";
}
const answer: PackedAnswer = { ngrams: [...search.found], ...(unreadable !== undefined && { unreadable }) };
process.stdout.write(JSON.stringify(answer));
