// What is held of this host's GPUs and who waits for them, over all runs, state folders and users: one small
// database in a folder of the host, in which every step is a transaction. A process that is killed at any
// moment leaves it whole, and what a dead process held is free.

import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { lifeOf, thisPlace } from "./owner.ts";

const formatVersion = 1;

export type Entry = {
  id: number;
  owner: Owner;
  run: string;
  stage: string;
  wants: number;
  candidates: string[];
  /** Of those that hold devices: since when. */
  since: string;
  /** Milliseconds of the host's clock that only grows, when it last looked. */
  seenMs: number;
  devices: Device[];
};

/** What is told of a held device to whoever looks: asking the driver may take seconds. */
export type Device = Pick<Gpu, "uuid" | "index" | "model">;

/** Where leases of this host lie: one folder for all who share its GPUs. */
export function gpuLeasesFolder({ env = process.env, make = true } = {}): string {
  if (env.MLRB_GPU_LEASES) return env.MLRB_GPU_LEASES;
  const last = join(tmpdir(), "mlrb-gpus");
  const folders = [...["/run/lock", "/tmp"].map((above) => join(above, "mlrb-gpus")), last];
  return folders.find((folder) => (make ? makes(folder) : existsSync(folder))) ?? last;
}

function makes(folder: string): boolean {
  try {
    makeFolder(folder);
    return true;
  } catch {
    return false; // not for this user
  }
}

function makeFolder(folder: string): void {
  const before = lstatSync(folder, { throwIfNoEntry: false });
  if (!before) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777); // whoever shares the GPUs shares the book; the process's mask is not asked
  }
  // a link would be somebody's way to have another file written
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
}

/** Does `work` as one step that no other process sees half of; undefined: there is no book, and `make` is not said. */
export function inBook<T>(folder: string, work: (book: Book) => T, make: true): T;
export function inBook<T>(folder: string, work: (book: Book) => T, make?: boolean): T | undefined;
export function inBook<T>(folder: string, work: (book: Book) => T, make = false): T | undefined {
  const file = join(folder, "gpus.sqlite");
  if (!make && !existsSync(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    makeFolder(folder);
    if (!existsSync(file)) {
      closeSync(openSync(file, "a", 0o666));
      chmodSync(file, 0o666);
    }
    // other steps take milliseconds; a disk may make one wait
    db = new DatabaseSync(file, { timeout: 10_000 });
    // after a power cut nothing that stands in it holds any more
    db.exec("PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
    prepare(db);
    const result = work(new Book(db));
    db.exec("COMMIT");
    return result;
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith("bug:")) throw error;
    const help = "if no run holds a GPU remove that folder, or name another for all runs in MLRB_GPU_LEASES";
    throw Object.assign(new Error(`the GPU leases in ${folder} cannot be used: ${message}; ${help}`), {
      code: "EGPULEASES",
    });
  } finally {
    db?.close(); // with what was not committed undone
  }
}

function prepare(db: DatabaseSync): void {
  const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (found > formatVersion) throw new Error(`a newer version of this program made them (format ${found})`);
  if (found === formatVersion) return;
  db.exec(`CREATE TABLE requests (id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, run TEXT NOT NULL,
      stage TEXT NOT NULL, wants INTEGER NOT NULL, candidates TEXT NOT NULL, since TEXT NOT NULL, seenMs REAL NOT NULL);
    CREATE TABLE devices (uuid TEXT PRIMARY KEY, number INTEGER NOT NULL, model TEXT NOT NULL, request INTEGER NOT NULL);
    PRAGMA user_version = ${formatVersion}`);
}

/** Throws where a row names no owner: its devices are neither free nor known to be held. */
function ownerOf({ id, owner }: Record<string, string>): Owner {
  const read = JSON.parse(owner!) as Owner | null;
  if (typeof read?.host === "string" && typeof read.pid === "number") return read;
  throw new Error(`request ${id} names no owner`);
}

/** What may be done in one step. */
export class Book {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Everything that stands in it, in the order of arrival. */
  entries(): Entry[] {
    const rows = this.#db.prepare("SELECT * FROM requests ORDER BY id").all() as Record<string, string>[];
    const devices = this.#db.prepare("SELECT * FROM devices ORDER BY number, uuid").all();
    return rows.map((row) => ({
      id: Number(row.id),
      owner: ownerOf(row),
      run: row.run!,
      stage: row.stage!,
      wants: Number(row.wants),
      candidates: JSON.parse(row.candidates!) as string[],
      since: row.since!,
      seenMs: Number(row.seenMs),
      devices: devices
        .filter(({ request }) => request === Number(row.id))
        .map(({ uuid, number, model }) => ({
          uuid: String(uuid),
          index: Number(number),
          model: String(model),
        })),
    }));
  }

  /** What the living hold and want; what the dead left is struck out. */
  living(): Entry[] {
    const [living, dead] = [[] as Entry[], [] as Entry[]];
    for (const entry of this.entries()) (isGone(entry.owner) ? dead : living).push(entry);
    for (const { id } of dead) this.remove(id);
    return living;
  }

  add(entry: Pick<Entry, "owner" | "run" | "stage" | "wants">): number {
    const { owner, run, stage, wants } = entry;
    const { lastInsertRowid } = this.#db
      .prepare("INSERT INTO requests VALUES (NULL, ?, ?, ?, ?, '[]', '', 0)")
      .run(JSON.stringify(owner), run, stage, wants);
    return Number(lastInsertRowid);
  }

  look(id: number, candidates: readonly string[], seenMs: number): void {
    this.#db
      .prepare("UPDATE requests SET candidates = ?, seenMs = ? WHERE id = ?")
      .run(JSON.stringify(candidates), seenMs, id);
  }

  /** Throws where one of them is held: nobody decides that in two ways. */
  hold(id: number, devices: readonly Device[], since: string): void {
    const insert = this.#db.prepare("INSERT INTO devices VALUES (?, ?, ?, ?)");
    for (const { uuid, index, model } of devices) insert.run(uuid, index, model, id);
    this.#db.prepare("UPDATE requests SET since = ? WHERE id = ?").run(since, id);
  }

  /** Gives its devices back and keeps its place. */
  letGo(id: number): void {
    this.#db.prepare("DELETE FROM devices WHERE request = ?").run(id);
  }

  remove(id: number): void {
    this.letGo(id);
    this.#db.prepare("DELETE FROM requests WHERE id = ?").run(id);
  }

  setOwner(id: number, owner: Owner): void {
    this.#db.prepare("UPDATE requests SET owner = ? WHERE id = ?").run(JSON.stringify(owner), id);
  }
}

/** Dead for certain: where the system hides other users' processes from us, they are asked by a signal. */
export function isGone(owner: Owner): boolean {
  if (lifeOf(owner) !== "dead") return false;
  if (owner.boot !== thisPlace().boot || existsSync(`/proc/${owner.pid}/stat`)) return true;
  try {
    process.kill(owner.pid, 0);
    return true; // ours to see, and another than it was
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}
