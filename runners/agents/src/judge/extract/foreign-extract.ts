// A trajectory that another tool wrote, as an extract: ATIF of Harbor, or a log of Inspect.
import { readFileSync, statSync } from "node:fs";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { Reading } from "@mlrb/formats/read-format";
import { at, parsedJson } from "../../model/json-text.ts";
import { atifExtract } from "./atif-extract.ts";
import { inspectExtract } from "./inspect-extract.ts";

const bytesMax = 256 << 20;
const limits = { characters: 300_000, eventCharacters: 20_000 };

export async function readForeignTrajectory(path: string): Promise<Reading<Extract>> {
  const unreadable = (cause: string): Reading<Extract> => ({ kind: "unreadable", cause });
  const { size } = statSync(path);
  if (size > bytesMax) return unreadable(`${size} bytes; at most ${bytesMax} are read`);
  const text = readFileSync(path, "utf8");
  if (text.startsWith("PK")) return unreadable("it is a zip; of an .eval file `inspect log dump` makes JSON");
  // Inspect writes NaN, at the end of a line, where no text ends
  const log = parsedJson(text) ?? parsedJson(text.replace(/-?\b(?:NaN|Infinity)(?=,?\n)/g, "null"));
  const read = (at(log, "eval") === undefined ? atifExtract : inspectExtract)(log, limits);
  return typeof read === "string" ? unreadable(read) : { kind: "ok", value: read };
}
