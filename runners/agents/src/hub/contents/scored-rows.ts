// The rows of a task's private data, on which scores are taken.
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { filesIn } from "@mlrb/kit/files/files-in";
import { textsOf } from "./withheld-rows.ts";

/** Each row as the list of its texts: an object of a JSON Lines file, an item of a JSON list, a paragraph of a text. */
export async function scoredRows(folder: string): Promise<string[][]> {
  const rows: string[][] = [];
  for (const path of filesIn(folder)) rows.push(...(await rowsOf(join(folder, path))));
  return rows;
}

async function rowsOf(path: string): Promise<string[][]> {
  if (path.endsWith(".jsonl")) {
    const found: string[][] = [];
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) if (line.trim() !== "") found.push(textsOf(JSON.parse(line)));
    return found;
  }
  const text = readFileSync(path, "utf8");
  if (!path.endsWith(".json")) return text.split(/\n\s*\n/).map((paragraph) => [paragraph]);
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.map(textsOf) : [textsOf(value)];
}
