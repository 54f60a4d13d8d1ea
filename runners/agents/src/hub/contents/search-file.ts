// A program: searches FILE for the rows of WITHHELD and prints one JSON answer. A process of its own, so that a
// file that takes all memory or time ends nothing else. Without an answer it fails: the host had trouble, not the
// file.
//   node search-file.ts WITHHELD FILE SCRATCH strict|any BYTES_MAX
import { readFileSync } from "node:fs";
import { mustFollow } from "@mlrb/formats/read-format";
import { withheldFile } from "@mlrb/formats/stage/withheld";
import { RowIndex, RowSearch } from "./row-search.ts";
import { searchFile } from "./search-content.ts";
import { Unreadable } from "./unreadable.ts";

/** `unreadable`: the content cannot be looked at to its end. */
export type SearchAnswer = { kind: "searched"; rows: number } | { kind: "unreadable"; detail: string };

const [withheld, file, scratch, how, bytesMax] = process.argv.slice(2);
const search = new RowSearch(
  new RowIndex(mustFollow(withheldFile, JSON.parse(readFileSync(withheld!, "utf8")), "withheld.json")),
);
let answer: SearchAnswer;
try {
  await searchFile(file!, {
    search,
    scratch: scratch!,
    strict: how === "strict",
    bytesMax: Number(bytesMax),
  });
  answer = { kind: "searched", rows: search.rowsFound() };
} catch (error) {
  const rows = search.rowsFound();
  // rows that were found are found, whatever follows them
  if (rows > 0) answer = { kind: "searched", rows };
  else if (isTroubleOfHost(error)) throw error;
  else answer = { kind: "unreadable", detail: error instanceof Unreadable ? error.message : "it is damaged" };
}
process.stdout.write(`${JSON.stringify(answer)}\n`);

/** A failed call of the system, such as a full disk, or no memory. */
function isTroubleOfHost(error: unknown): boolean {
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall !== undefined || /allocation failed/i.test(message);
}
