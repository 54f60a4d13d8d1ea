// Sends an attempt's checkpoints from a node without a shared disk to the remote cache, and brings the newest one to the
// next node. A large file is a parcel of its own and is sent once, as is a snapshot of the submission; all small files of a
// checkpoint are one parcel, which names the others.
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { formatBytes } from "@mlrb/core/text/units";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { mustFollow } from "@mlrb/formats/read-format";
import {
  type CheckpointParcel,
  type CheckpointParts,
  checkpointParts,
} from "@mlrb/formats/stage/attempt-state";
import type { Parcel } from "@mlrb/formats/stage/parcel";
import { checkpointParcelFile } from "@mlrb/kit/attempts/checkpoint-parcel";
import {
  checkpointContents,
  checkpointsFolder,
  type LeftCheckpoint,
  leftCheckpoint,
} from "@mlrb/kit/attempts/left-checkpoint";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeJson } from "@mlrb/kit/json-file";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import type { ParcelPost } from "./parcel-post.ts";

const partsFile = "checkpoint-parts.json";
const contents = checkpointContents(checkpointsFolder);
const largeBytes = 1 << 20;

export type CheckpointPlace = {
  post: Pick<ParcelPost, "send" | "fetch" | "has">;
  /** The attempt's. */
  folder: string;
  trajectory: string;
  /** The folder of the snapshots, in the attempt's folder. */
  snapshots: string;
};

export class CheckpointSender {
  readonly #place: CheckpointPlace;
  /** Parcels of single files and snapshots, by folder and name. */
  #parts = new Map<string, Parcel>();
  #newest = "";
  #last: Parcel | undefined;

  constructor(place: CheckpointPlace) {
    this.#place = place;
  }

  /**
   * Brings a checkpoint into the attempt's folder; with `isWanted` only its list, its small files and the large ones of the
   * paths that are wanted, and no snapshots. Throws RemoteTrouble, also for a parcel that holds links or other files: the
   * checkpoint before may be sound.
   */
  async fetch(parcel: Parcel, isWanted?: (path: string) => boolean): Promise<void> {
    const { folder, snapshots } = this.#place;
    await this.#bring(parcel, ".", [checkpointsFolder, partsFile]);
    const { left, parts } = listIn(folder);
    const names = new Set(
      left.checkpoint.entries.flatMap(({ path, content = [] }) =>
        isWanted?.(path) === false ? [] : content,
      ),
    );
    // of this checkpoint only: a later file of an agent that continues at an earlier one may have the number of another
    const brought = new Map<string, Parcel>();
    for (const part of parts) {
      if (part.folder === contents ? isWanted && !names.has(part.name) : isWanted) continue;
      if (part.folder !== contents && part.folder !== snapshots)
        throw damaged(`a node sent a part in ${part.folder}`);
      await this.#bring(part.parcel, part.folder, [part.name]);
      brought.set(join(part.folder, part.name), part.parcel);
    }
    for (const name of names)
      if (!existsSync(join(folder, contents, name))) throw damaged(`a node sent no content ${name}`);
    this.#parts = brought;
    this.#newest = left.name;
    this.#last = parcel;
  }

  /**
   * Unpacks a parcel in a folder of its own first. An archive follows links that are there, so a link from the archive
   * before would lead it anywhere on this host.
   */
  async #bring(parcel: Parcel, to: string, names: string[]): Promise<void> {
    const { folder, post, snapshots } = this.#place;
    const stage = join(folder, "parcels", "fetched");
    removeFolder(stage);
    try {
      await post.fetch(parcel, stage);
      for (const name of names) {
        if (!lstatSync(join(stage, name), { throwIfNoEntry: false }))
          throw damaged(`a node sent a parcel without ${name}`);
        if (to !== snapshots) mustHoldNoLinks(join(stage, name));
        mkdirSync(join(folder, to), { recursive: true });
        removeFolder(join(folder, to, name));
        renameSync(join(stage, name), join(folder, to, name));
      }
    } finally {
      removeFolder(stage);
    }
  }

  /** Sends the newest checkpoint, if it was not sent, and then names it in the attempt's folder. Throws RemoteTrouble. */
  async send(signal: AbortSignal): Promise<void> {
    const { folder, post, snapshots } = this.#place;
    const left = leftCheckpoint(join(folder, checkpointsFolder));
    if (!left || left.name === this.#newest) return;
    // links: the attempt removes old contents meanwhile
    const stage = join(folder, "parcels", "checkpoint");
    removeFolder(stage);
    try {
      const names = new Set(left.checkpoint.entries.flatMap(({ content }) => content ?? []));
      for (const name of names) link(join(folder, contents, name), join(stage, "all"), name);
      const parts: CheckpointParts["parts"] = [];
      mkdirSync(join(stage, "all"), { recursive: true });
      mustFit(stage, [...names]);
      for (const name of names) {
        const path = join(stage, "all", name);
        if (statSync(path).size < largeBytes) link(path, join(stage, contents), name);
        else parts.push(await this.#part(join(stage, "all"), { folder: contents, name, signal }));
      }
      for (const name of await this.#snapshots(left.checkpoint.after))
        parts.push(await this.#part(join(folder, snapshots), { folder: snapshots, name, signal }));
      link(
        join(folder, checkpointsFolder, `${left.name}.json`),
        join(stage, checkpointsFolder),
        `${left.name}.json`,
      );
      writeJson(join(stage, partsFile), { formatVersion: 1, parts } satisfies CheckpointParts);
      const parcel = await post.send(stage, [checkpointsFolder, partsFile], signal);
      const before = this.#last && { before: this.#last };
      const named: CheckpointParcel = { formatVersion: 1, name: left.name, parcel, ...before };
      writeJson(join(folder, checkpointParcelFile), named);
      this.#newest = left.name;
      this.#last = parcel;
    } finally {
      removeFolder(stage);
    }
  }

  /** The server may have dropped an old parcel. */
  async #part(from: string, { folder, name, signal }: { folder: string; name: string; signal: AbortSignal }) {
    const { post } = this.#place;
    const key = join(folder, name);
    const known = this.#parts.get(key);
    const parcel = known && (await post.has(known)) ? known : await post.send(from, [name], signal);
    this.#parts.set(key, parcel);
    return { folder, name, parcel };
  }

  /** Whole ones, which the trajectory names up to this line, and which are kept. */
  async #snapshots(lines: number): Promise<string[]> {
    const { folder, snapshots, trajectory } = this.#place;
    const kept = new Set<string>();
    let at = 0;
    for await (const line of splitLines(trajectory)) {
      if (at++ >= lines || typeof line === "string") break;
      if (!line.includes('"event":"snapshot')) continue;
      const event = JSON.parse(line.toString()) as TrajectoryEvent;
      if (event.event === "snapshot" && event.name !== "final") kept.add(event.name);
      if (event.event === "snapshot-dropped") kept.delete(event.name);
    }
    return readdirSync(join(folder, snapshots))
      .filter((name) => kept.has(name))
      .sort();
  }
}

/** Of a checkpoint that was fetched. Throws RemoteTrouble. */
function listIn(folder: string): { left: LeftCheckpoint } & Pick<CheckpointParts, "parts"> {
  let why = "";
  try {
    const text = readFileSync(join(folder, partsFile), "utf8");
    const { parts } = mustFollow(checkpointParts, JSON.parse(text), partsFile);
    const left = leftCheckpoint(join(folder, checkpointsFolder));
    if (left) return { left, parts };
  } catch (error) {
    why = `: ${(error as Error).message}`; // e.g. a folder in its place
  }
  throw damaged(`a node sent a checkpoint whose list cannot be read${why}`);
}

function damaged(why: string): RemoteTrouble {
  return new RemoteTrouble("wrong-bytes", why);
}

/** A snapshot may hold the links of its agent; what is copied from this host's disk into a sandbox may not. */
function mustHoldNoLinks(path: string): void {
  const stats = lstatSync(path);
  if (stats.isDirectory()) for (const name of readdirSync(path)) mustHoldNoLinks(join(path, name));
  else if (!stats.isFile()) throw damaged(`a node sent ${basename(path)}, which is no file`);
}

/** An archive and its sealed form are on the disk at once, where the agent needs room too. */
function mustFit(stage: string, names: string[]): void {
  const sizes = names.map((name) => statSync(join(stage, "all", name)).size);
  const small = sizes.filter((size) => size < largeBytes).reduce((sum, size) => sum + size, 0);
  const { bavail, bsize } = statfsSync(stage);
  const most = Math.max(small, ...sizes);
  if (2 * most > (bavail * bsize) / 2)
    throw new Error(`the node's disk has no room for an archive of ${formatBytes(most)}`);
}

function link(from: string, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  const to = join(folder, name);
  rmSync(to, { force: true });
  linkSync(from, to);
}
