// Append-only files of what people decided, one JSON object a line. They are next to the records' folder, so that
// records stay byte for byte as they were made.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { readFormat } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import { canonicalJson } from "@mlrb/kit/json-file";
import { syncPath } from "../store/sync-folder.ts";

/** The lines of a file that follow `schema`. Others were torn by a kill: the person saw no confirmation. */
export function linesOf<const Schema extends object>(schema: Schema, path: string): TypeOf<Schema>[] {
  return readText(path)
    .split("\n")
    .flatMap((line) => {
      const reading = readFormat(schema, line);
      return reading.kind === "ok" ? [reading.value] : [];
    });
}

/** Returns once the lines are on disk. */
export function appendLines(path: string, lines: object[]): void {
  if (lines.length === 0) return;
  const isNew = !existsSync(path);
  const text = readText(path);
  const isTorn = text !== "" && !text.endsWith("\n");
  const added = lines.map((line) => `${canonicalJson(line)}\n`).join("");
  appendFileSync(path, `${isTorn ? "\n" : ""}${added}`);
  syncPath(path);
  if (isNew) syncPath(dirname(path));
}

/** Empty if there is no such file. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
