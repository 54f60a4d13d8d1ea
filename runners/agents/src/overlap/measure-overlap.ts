// Compares all texts that an attempt held with the scored rows of its task. What an agent wrote is hostile: this runs
// inside walls, and what cannot be read is listed.
import { createReadStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Overlap, OverlapMeasure } from "@mlrb/formats/judged/overlap";
import { filesIn } from "@mlrb/kit/files/files-in";
import { scoredRows } from "../hub/contents/scored-rows.ts";
import { searchFile, Unreadable } from "../hub/contents/search-content.ts";
import { textsOf } from "../hub/contents/withheld-rows.ts";
import { NgramIndex } from "./ngram-index.ts";
import { OverlapSearch } from "./overlap-search.ts";

type Place = Overlap["places"][number];

export type Held = {
  /** Folders; undefined where a pipeline gives none. */
  workspace: string | undefined;
  attachments: string | undefined;
  submission: string;
  /** A file of JSON Lines. */
  trajectory: string;
  /** SHA-256 of files of sources on which scores are taken. */
  evaluationDigests: ReadonlySet<string>;
};

export type Task = { private: string; public: string };

const placesMax = 100;
const unreadMax = 100;
/** Unpacked bytes of one file that are looked at. */
const bytesMax = 2 ** 30;

export async function measureOverlap(
  held: Held,
  task: Task,
  { measure, scratch }: { measure: OverlapMeasure; scratch: string },
): Promise<Overlap> {
  const index = new NgramIndex(await scoredRows(task.private), measure);
  mkdirSync(scratch, { recursive: true });
  const unread: Overlap["unread"] = [];
  const inFile = async (path: string, shown: string) => {
    const search = new OverlapSearch(index);
    try {
      await searchFile(path, { search, scratch, strict: false, bytesMax });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error; // this machine's trouble
      unread.push({ place: shown, why: error instanceof Unreadable ? error.message : "it is damaged" });
    }
    return search.found;
  };
  for (const path of filesIn(task.public))
    for (const ngram of await inFile(join(task.public, path), path)) index.leaveOut(ngram);
  if (unread.length > 0) throw new Error(`the public data cannot be read: ${unread[0]!.place}: ${unread[0]!.why}`);

  const places: Place[] = [];
  const all = new Set<number>();
  const found = (shares: Map<number, number>) =>
    [...shares.values()].filter((share) => share >= measure.share).length;
  const note = (kind: Place["kind"], place: string, ngrams: ReadonlySet<number>) => {
    if (ngrams.size === 0) return;
    for (const ngram of ngrams) all.add(ngram);
    places.push({ kind, place, ngrams: ngrams.size, rows: found(index.sharesOf(ngrams)) });
  };
  const folders = { workspace: held.workspace, attachment: held.attachments, submission: held.submission };
  for (const [kind, folder] of Object.entries(folders))
    for (const path of folder === undefined ? [] : filesIn(folder))
      note(kind as Place["kind"], path, await inFile(join(folder!, path), `${kind}/${path}`));
  const { evaluationFiles } = await inEvents(held, (event, texts) => {
    const search = new OverlapSearch(index);
    for (const text of texts) {
      search.push(text);
      search.end();
    }
    note("trajectory", String(event), search.found);
  });
  const shares = index.sharesOf(all);
  places.sort((a, b) => b.ngrams - a.ngrams || (a.place < b.place ? -1 : 1));
  return {
    formatVersion: 1,
    measure,
    rows: { ...index.rowCounts(), touched: shares.size, found: found(shares) },
    places: places.slice(0, placesMax),
    placesMore: Math.max(0, places.length - placesMax),
    unread: unread.slice(0, unreadMax),
    unreadMore: Math.max(0, unread.length - unreadMax),
    evaluationFiles,
  };
}

/** Events count from 1, as their lines do. */
async function inEvents(
  { trajectory, evaluationDigests }: Held,
  visit: (event: number, texts: string[]) => void,
): Promise<{ evaluationFiles: number }> {
  const downloaded = new Set<string>();
  let event = 0;
  const lines = createInterface({ input: createReadStream(trajectory), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    event++;
    const value = parsed(line);
    visit(event, value === undefined ? [line] : textsOf(value));
    const { event: kind, digest } = (value ?? {}) as { event?: unknown; digest?: unknown };
    if (kind === "download" && typeof digest === "string" && evaluationDigests.has(digest)) downloaded.add(digest);
  }
  return { evaluationFiles: downloaded.size };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
