// Reads what the stages of a chain wrote, and checks its formats.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Admission, admission } from "@mlrb/formats/judged/admission";
import { verdict } from "@mlrb/formats/judged/verdict";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import type { Judged } from "./judge-each.ts";

type Loaded = { name: string; exit: number; cpuMs: number; peakBytes: number };

/** Of one folder; what a stage did not write is undefined. */
export type ChainFolder = {
  name: string;
  /** The codes that admission must give. */
  codes: string[];
  validated?: Judged;
  admission?: Admission;
  loaded?: Loaded;
  /** After the load. */
  final?: Admission;
  judged?: Judged;
  verdict?: string;
};

/** The end of a folder that only the load opened, as if admission had let it through. */
export type Bomb = { name: string; loaded?: Loaded; final?: Admission };

/** Checks the formats of what the stages wrote into folders of these names. */
export function readResults(
  asked: Pick<ChainFolder, "name" | "codes">[],
  places: Record<"validated" | "loaded" | "judged", string>,
): ChainFolder[] {
  const folders = asked.map((folder): ChainFolder => ({ ...folder }));
  const byName = new Map(folders.map((folder) => [folder.name, folder]));
  for (const line of linesOf<Judged>(join(places.validated, "judged.jsonl"))) {
    const folder = byName.get(line.name)!;
    folder.validated = line;
    const path = join(places.validated, line.name, "admission.json");
    if (line.failed === undefined) folder.admission = mustFollow(admission, readJson(path), line.name);
  }
  for (const line of linesOf<Judged>(join(places.judged, "judged.jsonl"))) {
    const folder = byName.get(line.name)!;
    folder.judged = line;
    const path = join(places.judged, line.name, "verdict.json");
    if (line.failed === undefined) folder.verdict = mustFollow(verdict, readJson(path), line.name).kind;
  }
  return readLoads(places.loaded, folders);
}

export function readLoads<T extends Bomb>(place: string, folders: T[]): T[] {
  for (const line of linesOf<Loaded>(join(place, "loaded.jsonl"))) {
    const folder = folders.find(({ name }) => name === line.name)!;
    folder.loaded = line;
    const path = join(place, `${line.name}.json`);
    if (line.exit === 0) folder.final = mustFollow(admission, readJson(path), line.name);
  }
  return folders;
}

function linesOf<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8").trim();
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line));
}
