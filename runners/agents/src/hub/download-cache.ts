// Downloaded files by their SHA-256, shared by all attempts of a state folder. A file is complete and verified
// before it has its name. Agents cannot write here.
import { createHash, hash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { open, readFile, rename, rm, stat, statfs, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { download } from "@mlrb/kit/http/download";
import { parsedJson } from "../model/json-text.ts";
import { askUpstream, NotServed, noSpace, orNotServed } from "./fetch-upstream.ts";

export type CachedFile = { path: string; digest: string; bytes: number; cached: boolean };

export type WantedFile = {
  url: URL;
  /** What the server says of the content before it is downloaded. `gitSha1`: git's hash of a blob. */
  known: { sha256?: string; gitSha1?: string };
  bytes?: number;
  /** Names content that never changes, where its digest is not known before. */
  name?: string;
};

export type CacheLimits = {
  /** Of one file. */
  fileBytesMax: number;
  /** Free space that stays on the disk. */
  freeBytesMin: number;
};

const triesMax = 5;

export class DownloadCache {
  readonly folder: string;
  readonly #limits: CacheLimits;
  readonly #running = new Map<string, Promise<CachedFile>>();

  constructor(folder: string, limits: CacheLimits) {
    this.folder = folder;
    this.#limits = limits;
    for (const name of ["blobs", "names", "partial", "searched"])
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  }

  /** Downloads the file unless it is here. Equal requests share one download. */
  async get(wanted: WantedFile, signal: AbortSignal): Promise<CachedFile> {
    const held = await this.#held(wanted);
    if (held) return held;
    const key = JSON.stringify([wanted.known, wanted.name ?? wanted.url.href]);
    return await this.#running.getOrInsertComputed(key, () =>
      this.#download(wanted, signal).finally(() => this.#running.delete(key)),
    );
  }

  async #held({ known, name }: WantedFile): Promise<CachedFile | undefined> {
    const digest = known.sha256 ?? (await this.#named(known.gitSha1 ?? name));
    if (digest === undefined) return undefined;
    const path = this.#blob(digest);
    try {
      const { size } = await stat(path);
      const now = new Date();
      await utimes(path, now, now); // what was used last stays longest
      return { path, digest, bytes: size, cached: true };
    } catch {
      return undefined;
    }
  }

  async #named(name: string | undefined): Promise<string | undefined> {
    if (name === undefined) return undefined;
    const text = await readFile(this.#nameFile(name), "utf8").catch(() => "");
    return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
  }

  async #download(wanted: WantedFile, signal: AbortSignal): Promise<CachedFile> {
    const partial = join(this.folder, "partial", randomBytes(12).toString("hex"));
    try {
      const { digest, bytes } = await this.#receive(wanted, partial, signal);
      const path = this.#blob(digest);
      await rename(partial, path);
      for (const name of [wanted.known.gitSha1, wanted.name])
        if (name !== undefined) await this.#write(this.#nameFile(name), digest);
      return { path, digest, bytes, cached: false };
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Throws if it is not what the server announced. */
  async #receive({ url, bytes, known }: WantedFile, partial: string, signal: AbortSignal) {
    const ofGit = () => createHash("sha1").update(`blob ${bytes}\0`); // as git hashes a file
    const hashes = () => [createHash("sha256"), ...(known.gitSha1 === undefined ? [] : [ofGit()])];
    await using file = await open(partial, "wx", 0o600);
    const received = await orNotServed(url, signal, () =>
      download(file, {
        ...{ bytes, hashes, signal, tries: triesMax, pauseMs: (next) => 100 * 2 ** next },
        ask: (headers) => askUpstream(url, { headers, signal }),
        admit: (stated) => this.#room(stated),
      }),
    );
    await file.datasync(); // a name in the cache means whole content, also after a power failure
    const [sha256, gitSha1] = received.digests;
    if (gitSha1 !== known.gitSha1 || sha256 !== (known.sha256 ?? sha256))
      throw new NotServed("upstream", "the content does not have the digest that the server announced");
    return { digest: sha256!, bytes: received.bytes };
  }

  /** The most bytes that a file may have of which the server states `bytes`. */
  async #room(bytes: number | undefined): Promise<number> {
    const { fileBytesMax } = this.#limits;
    if (bytes !== undefined && bytes > fileBytesMax)
      throw new NotServed("too-large", `${bytes} bytes are more than the gateway serves (${fileBytesMax})`);
    await this.checkFree(bytes);
    return bytes ?? fileBytesMax;
  }

  /** Throws if the disk would have too little free space with `bytes` more. */
  async checkFree(bytes = 0): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    if (bavail * bsize - bytes < this.#limits.freeBytesMin) throw noSpace();
  }

  /** Whether the file was searched for these withheld rows before, with its answer. */
  async searched(withheld: string, file: Pick<CachedFile, "digest">, strict: boolean): Promise<unknown> {
    return parsedJson(await readFile(this.#searchedFile(withheld, file, strict), "utf8").catch(() => ""));
  }

  async putSearched(
    withheld: string,
    file: Pick<CachedFile, "digest">,
    at: { strict: boolean; answer: unknown },
  ) {
    await this.#write(this.#searchedFile(withheld, file, at.strict), JSON.stringify(at.answer));
  }

  #searchedFile(withheld: string, { digest }: Pick<CachedFile, "digest">, strict: boolean): string {
    return join(this.folder, "searched", hash("sha256", `${withheld} ${digest} ${strict}`));
  }

  #blob(digest: string): string {
    return join(this.folder, "blobs", digest);
  }

  #nameFile(name: string): string {
    return join(this.folder, "names", hash("sha256", name));
  }

  async #write(path: string, text: string): Promise<void> {
    const partial = join(this.folder, "partial", randomBytes(12).toString("hex"));
    await writeFile(partial, text);
    await rename(partial, path);
  }
}
