// A trajectory that another tool wrote, as an extract: ATIF of Harbor, or a log of Inspect.
import { readFileSync, statSync } from "node:fs";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { Reading } from "@mlrb/formats/read-format";
import { atifExtract } from "./atif-extract.ts";

const bytesMax = 256 << 20;
const limits = { characters: 300_000, eventCharacters: 20_000 };

export async function readForeignTrajectory(path: string): Promise<Reading<Extract>> {
  const { size } = statSync(path);
  if (size > bytesMax) return { kind: "unreadable", cause: `${size} bytes; at most ${bytesMax} are read` };
  const read = atifExtract(readFileSync(path, "utf8"), limits);
  return typeof read === "string" ? { kind: "unreadable", cause: read } : { kind: "ok", value: read };
}
