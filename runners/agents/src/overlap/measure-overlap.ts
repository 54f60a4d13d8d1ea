// Compares all texts that an attempt held with the scored rows of its task. What an agent wrote is hostile: this runs
// inside walls, and what cannot be read is listed, so that a text that was not searched is no silent zero.
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { downloadEvents } from "@mlrb/formats/attempt/download-events";
import type { Overlap, OverlapMeasure } from "@mlrb/formats/judged/overlap";
import { checkFormat } from "@mlrb/formats/read-format";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { filesIn } from "@mlrb/kit/files/files-in";
import { quiet } from "@mlrb/kit/processes/process-table";
import { keptFiles, notKept } from "../folders/kept-workspace.ts";
import { contentKind } from "../hub/contents/content-kind.ts";
import { limitedNode } from "../hub/contents/limited-node.ts";
import { samplesHoldText } from "../hub/contents/sampled-text.ts";
import { scoredRows } from "../hub/contents/scored-rows.ts";
import { ends, mayBeZip, searchFile } from "../hub/contents/search-content.ts";
import { Unreadable } from "../hub/contents/unreadable.ts";
import { weightsHeader } from "../hub/contents/weights-content.ts";
import { textsOf } from "../hub/contents/withheld-rows.ts";
import { NgramIndex } from "./ngram-index.ts";
import { OverlapSearch } from "./overlap-search.ts";

type Place = Overlap["places"][number];
type Unread = Overlap["unread"][number];

export type Held = {
  /** `workspace/` of the attempt: its texts with their index. */
  workspace: string | undefined;
  attachments: string | undefined;
  submission: string;
  /** A file of JSON Lines. */
  trajectory: string;
};

type Measuring = {
  measure: OverlapMeasure;
  /** An empty folder. */
  scratch: string;
  /** Of one archive or table. */
  unpackedBytesMax?: number;
  /** For all archives and tables together. */
  packedAllMs?: number;
};

const listedMax = 100;
/** Of plain text in all files together. */
const textBytesMax = 4 * 2 ** 30;
const unpackedMax = 2 ** 30;
/** Archives and tables; each takes a process. Package managers leave dozens behind. */
const packedMax = 300;
const packedMs = 60_000;
/** 90 kB can take a minute, so without this limit an attempt could take five hours. */
const packedAllMax = 15 * 60_000;
/** What an attempt's record keeps of one file. Numbers are searched at 3 to 5 MB/s. */
const plainBinaryMax = 16 << 20;

export async function measureOverlap(
  held: Held,
  task: { private: string; public: string },
  measuring: Measuring,
): Promise<Overlap> {
  const { measure, scratch } = measuring;
  const index = new NgramIndex(await scoredRows(task.private), measure);
  mkdirSync(scratch, { recursive: true });
  await leaveOutGiven(index, task.public, scratch);
  const reader = new HeldReader(index, { ...measuring, private: task.private });
  const { workspace, attachments, submission, trajectory } = held;
  await reader.readEvents(trajectory);
  const files = workspace && keptFiles(workspace);
  for (const [kind, folder] of Object.entries({ workspace: files, attachment: attachments, submission }))
    if (folder !== undefined && existsSync(folder)) await reader.readFolder(kind as Place["kind"], folder);
  const unread = [...notKept(workspace), ...reader.unread];
  const shares = index.sharesOf(reader.all);
  const places = reader.places.sort((a, b) => b.ngrams - a.ngrams || (a.place < b.place ? -1 : 1));
  return {
    formatVersion: 1,
    measure,
    rows: { ...index.rowCounts(), touched: shares.size, found: foundIn(shares, measure) },
    places: places.slice(0, listedMax),
    placesMore: Math.max(0, places.length - listedMax),
    unread: unread.slice(0, listedMax),
    unreadMore: Math.max(0, unread.length - listedMax),
    downloads: { files: reader.downloads.size, read: reader.downloadsRead.size },
  };
}

async function leaveOutGiven(index: NgramIndex, folder: string, scratch: string): Promise<void> {
  for (const path of filesIn(folder)) {
    const search = new OverlapSearch(index);
    const bytesMax = Number.POSITIVE_INFINITY;
    await searchFile(join(folder, path), { search, scratch, strict: false, bytesMax });
    for (const ngram of search.found) index.leaveOut(ngram);
  }
}

function foundIn(shares: Map<number, number>, { share }: OverlapMeasure): number {
  return [...shares.values()].filter((one) => one >= share).length;
}

class HeldReader {
  readonly places: Place[] = [];
  readonly unread: Unread[] = [];
  readonly all = new Set<number>();
  /** Digests of recorded downloads, and of those that were left. */
  readonly downloads = new Set<string>();
  readonly downloadsRead = new Set<string>();
  readonly #index: NgramIndex;
  readonly #given: Measuring & { private: string };
  #textBytes = textBytesMax;
  #packed = 0;
  #packedMsLeft: number;

  constructor(index: NgramIndex, given: Measuring & { private: string }) {
    this.#index = index;
    this.#given = given;
    this.#packedMsLeft = given.packedAllMs ?? packedAllMax;
  }

  async readFolder(kind: Place["kind"], folder: string): Promise<void> {
    for (const path of filesIn(folder)) {
      const shown = kind === "workspace" ? path : `${kind}/${path}`;
      const name = new OverlapSearch(this.#index);
      name.push(path);
      name.end();
      this.#note(kind, path, (await this.#inFile(join(folder, path), shown)).union(name.found));
    }
  }

  /** Events count from 1, as their lines do. */
  async readEvents(trajectory: string): Promise<void> {
    let number = 0;
    for await (const bytes of splitLines(trajectory)) {
      number++;
      if (typeof bytes === "string") {
        this.unread.push({ place: `event ${number}`, why: bytes });
        return;
      }
      const line = bytes.toString();
      const value: unknown = quiet(() => JSON.parse(line));
      const search = new OverlapSearch(this.#index);
      // the line too: it joins the parts of a row that an event holds in a list
      for (const text of value === undefined ? [line] : [line, ...textsOf(value)]) {
        search.push(text);
        search.end();
      }
      this.#note("trajectory", String(number), search.found);
      const download = checkFormat(downloadEvents[0], value);
      if (download.kind === "ok") this.downloads.add(download.value.digest);
    }
  }

  #note(kind: Place["kind"], place: string, found: ReadonlySet<number>): void {
    if (found.size === 0) return;
    for (const ngram of found) this.all.add(ngram);
    const rows = foundIn(this.#index.sharesOf(found), this.#given.measure);
    this.places.push({ kind, place, ngrams: found.size, rows });
  }

  async #inFile(path: string, place: string): Promise<ReadonlySet<number>> {
    const no = (why: string) => {
      this.unread.push({ place, why });
      return new Set<number>();
    };
    const digest = this.downloads.size > 0 ? await digestOf(path) : "";
    if (this.downloads.has(digest)) this.downloadsRead.add(digest);
    const how = await howToSearch(path);
    if (how === "process") return this.#inPacked(path, no);
    this.#textBytes -= statSync(path).size;
    if (this.#textBytes < 0) return no(`more than ${textBytesMax} bytes of text`);
    const search = new OverlapSearch(this.#index);
    const raw = how === "whole" ? () => new OverlapSearch(this.#index, search.found) : undefined;
    const { scratch } = this.#given;
    try {
      const limits = { bytesMax: textBytesMax, closedBytesMax: 0 };
      await searchFile(path, { search, raw, scratch, strict: false, ...limits });
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error; // this machine's trouble
      no(error.message);
    }
    return search.found;
  }

  async #inPacked(path: string, no: (why: string) => Set<number>): Promise<Set<number>> {
    if (++this.#packed > packedMax) return no(`more than ${packedMax} archives, tables and binary files`);
    if (this.#packedMsLeft <= 0) return no("archives and tables take too long together");
    const { measure, scratch, unpackedBytesMax = unpackedMax, private: rows } = this.#given;
    const program = join(import.meta.dirname, "search-packed.ts");
    const args = [program, rows, JSON.stringify(measure), path, scratch, String(unpackedBytesMax)];
    const ended = await limitedNode(args, { timeout: packedMs, maxBuffer: 2 ** 28 });
    this.#packedMsLeft -= ended.durationMs;
    const lines = ended.stdout.split("\n").filter((line) => line !== "");
    if (ended.exitCode !== 0) no(ended.timedOut ? "it takes too long" : "it takes too much memory");
    else if (/\D/.test(lines.at(-1) ?? "")) no(lines.pop()!);
    return new Set(lines.map(Number).filter((ngram) => this.#index.has(ngram)));
  }
}

async function digestOf(path: string): Promise<string> {
  const sum = createHash("sha256");
  await pipeline(createReadStream(path), sum);
  return sum.digest("hex");
}

/**
 * In a process of its own where a library opens it, since one throws on hostile content, or takes long. Of large
 * weights and media only what their readers find, if they hold no text elsewhere.
 */
async function howToSearch(path: string): Promise<"whole" | "as its kind" | "process"> {
  const { head, tail } = await ends(path);
  const kind = contentKind(head);
  const isNumbers = kind === "safetensors" || kind === "media";
  if (mayBeZip(tail) || !(isNumbers || ["text", "utf-16", "binary"].includes(kind))) return "process";
  if (!(isNumbers || kind === "binary") || statSync(path).size <= plainBinaryMax) return "whole";
  if (!isNumbers || (kind === "safetensors" && !(await weightsHeader(path)))) return "process";
  await using file = await open(path);
  return (await samplesHoldText(file, head)) ? "process" : "as its kind";
}
