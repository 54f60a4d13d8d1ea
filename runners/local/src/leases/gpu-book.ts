// Records which processes hold GPUs of this host and which wait for them, over all runs, state folders and users.
// The book is one small database in a folder of the host, and every step is a transaction. A kill at any moment
// leaves the database intact, and devices of a dead process are free.

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
  /** For a process that holds devices: since when. */
  since: string;
  /** The host's monotonic clock at the process's last look, in milliseconds. */
  seenMs: number;
  devices: Device[];
};

/** Shown for a held device: a query of the driver may take seconds. */
export type Device = Pick<Gpu, "uuid" | "index" | "model">;

/** Returns the folder of the GPU leases of this host, shared by all users of its GPUs. */
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
    return false; // this user may not use it
  }
}

function makeFolder(folder: string): void {
  const before = lstatSync(folder, { throwIfNoEntry: false });
  if (!before) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777); // all users of the GPUs share the book, whatever the umask
  }
  // through a link another user could redirect writes to other files
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
}

/** Runs `work` as one transaction. Undefined if there is no book and `make` is false. */
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
    // other steps take milliseconds; a slow disk may delay one
    db = new DatabaseSync(file, { timeout: 10_000 });
    // entries are not valid after a power cut
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
    db?.close(); // this rolls back uncommitted changes
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

/** Throws if a row names no owner: its devices are neither free nor known to be held. */
function ownerOf({ id, owner }: Record<string, string>): Owner {
  const read = JSON.parse(owner!) as Owner | null;
  if (typeof read?.host === "string" && typeof read.pid === "number") return read;
  throw new Error(`request ${id} names no owner`);
}

/** The operations within one transaction. */
export class Book {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** All entries, in the order of arrival. */
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

  /** Returns the entries of living processes and removes those of dead processes. */
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

  /** Throws if one of the devices is held. */
  hold(id: number, devices: readonly Device[], since: string): void {
    const insert = this.#db.prepare("INSERT INTO devices VALUES (?, ?, ?, ?)");
    for (const { uuid, index, model } of devices) insert.run(uuid, index, model, id);
    this.#db.prepare("UPDATE requests SET since = ? WHERE id = ?").run(since, id);
  }

  /** Releases the devices of an entry and keeps its place in the queue. */
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

/**
 * Whether the owner is certainly dead. Where /proc hides processes of other users, a signal shows whether they
 * live.
 */
export function isGone(owner: Owner): boolean {
  if (lifeOf(owner) !== "dead") return false;
  if (owner.boot !== thisPlace().boot || existsSync(`/proc/${owner.pid}/stat`)) return true;
  try {
    process.kill(owner.pid, 0);
    return true; // visible, so it is another process with the same id
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}
