// Attempts are records, not cache: what an agent did cost money and cannot be recomputed. Each is an
// immutable folder named by the digest of its record, outside the cache, never collected. The folders
// are the truth; the index only saves reading them.
import { createHash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
} from "node:fs";
import { join } from "node:path";
import type { KeyParts } from "@mlrb/core/action-key";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { removeFolder } from "./remove-folder.ts";
import type { Artifact, Store } from "./store.ts";

export type AttemptRecord = {
  formatVersion: 1;
  /** Where it was made for: one attempt's place in one pipeline and profile. */
  slot: { pipeline: string; profile: string; stage: string };
  axes: Record<string, string | number>;
  attemptKey: string;
  /** What the key was made of; `inputs` pins the digests of what the attempt was given. */
  parts: KeyParts;
  outputs: Record<string, Artifact & { file: string }>;
  /** Digests of the harness that ran it: provenance, not key. */
  harness: Record<string, string>;
  ran: { run: string; startedAt: string; durationMs: number; executor: string; host: string };
};

type Line = { record: string; key: string; startedAt: string };

export class AttemptRecords {
  readonly #folder: string;
  readonly #records: string;
  readonly #index: string;
  readonly #store: Store;
  #byKey: Map<string, Line> | undefined;

  constructor(folder: string, store: Store) {
    this.#folder = folder;
    this.#records = join(folder, "records");
    this.#index = join(folder, "index.jsonl");
    this.#store = store;
  }

  /** The newest record with this attempt key, in any slot. */
  find(key: string): { digest: string; record: AttemptRecord } | undefined {
    this.#byKey ??= this.#load();
    const line = this.#byKey.get(key);
    return line && { digest: line.record, record: this.read(line.record) };
  }

  read(digest: string): AttemptRecord {
    return JSON.parse(readFileSync(join(this.#records, digest, "record.json"), "utf8")) as AttemptRecord;
  }

  /** All records, by digest, in code-unit order. */
  list(): string[] {
    return existsSync(this.#records)
      ? readdirSync(this.#records)
          .filter((name) => !name.startsWith("tmp-"))
          .sort()
      : [];
  }

  /** Keeps an attempt whose outputs are in the store; gives the record's digest. */
  put(record: AttemptRecord, log: string): string {
    const text = `${canonicalJson(record, 2)}\n`;
    const digest = createHash("sha256").update(text).digest("hex");
    const temporary = join(this.#records, `tmp-${process.pid}-${randomBytes(6).toString("hex")}`);
    mkdirSync(temporary, { recursive: true });
    for (const output of Object.values(record.outputs))
      this.#store.restore(output, join(temporary, output.file));
    if (existsSync(log)) cpSync(log, join(temporary, "log"));
    writeWhole(join(temporary, "record.json"), text);
    const path = join(this.#records, digest);
    if (existsSync(path)) removeFolder(temporary);
    else renameSync(temporary, path);
    const line = { record: digest, key: record.attemptKey, startedAt: record.ran.startedAt };
    this.#remember(line);
    appendFileSync(this.#index, `${canonicalJson(line)}\n`);
    return digest;
  }

  /** Puts a record's outputs back into the store where they are missing, e.g. after the cache was deleted. */
  ensureStored(digest: string, record: AttemptRecord): void {
    for (const [name, output] of Object.entries(record.outputs)) {
      if (this.#store.hasAll(output)) continue;
      const found = this.#store.put(join(this.#records, digest, output.file), output.kind);
      if (found.digest === output.digest) continue;
      throw new Error(
        `attempt ${digest.slice(0, 12)} in ${this.#folder} was changed: its ${name} is not what its record says`,
      );
    }
  }

  #load(): Map<string, Line> {
    this.#byKey = new Map();
    const known = new Set<string>();
    const text = existsSync(this.#index) ? readFileSync(this.#index, "utf8") : "";
    const present = new Set(this.list());
    for (const line of text.split("\n")) {
      try {
        const entry = JSON.parse(line) as Line;
        known.add(entry.record);
        if (present.has(entry.record)) this.#remember(entry);
      } catch {
        // torn by a kill, or empty: the folder itself is read below
      }
    }
    if (text !== "" && !text.endsWith("\n")) appendFileSync(this.#index, "\n");
    for (const digest of present) {
      if (known.has(digest)) continue;
      const record = this.read(digest);
      const line = { record: digest, key: record.attemptKey, startedAt: record.ran.startedAt };
      this.#remember(line);
      appendFileSync(this.#index, `${canonicalJson(line)}\n`);
    }
    return this.#byKey;
  }

  #remember(line: Line): void {
    this.#byKey ??= this.#load();
    const held = this.#byKey.get(line.key);
    if (!held || held.startedAt <= line.startedAt) this.#byKey.set(line.key, line);
  }
}
