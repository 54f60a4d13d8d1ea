// Downloaded files by their SHA-256, shared by all attempts of a state folder. A file is complete and verified before it
// has its name. Agents cannot write here.
import { createHash, hash, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import {
  type FileHandle,
  open,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchUpstream, NotServed, noSpace } from "./fetch-upstream.ts";

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

/** A file as it comes, and its digests. */
class ReceivedContent {
  bytes = 0;
  readonly #file: FileHandle;
  readonly #known: WantedFile["known"];
  readonly #sha256 = createHash("sha256");
  readonly #sha1 = createHash("sha1");

  constructor(file: FileHandle, { known, bytes }: WantedFile) {
    this.#file = file;
    this.#known = known;
    this.#sha1.update(`blob ${bytes}\0`); // as git hashes a file
  }

  async add(piece: Uint8Array): Promise<void> {
    this.bytes += piece.length;
    this.#sha256.update(piece);
    if (this.#known.gitSha1 !== undefined) this.#sha1.update(piece);
    await this.#file.appendFile(piece);
  }

  /** Throws if it is not what the server announced. */
  checked(): { digest: string; bytes: number } {
    const { sha256, gitSha1 } = this.#known;
    const digest = this.#sha256.digest("hex");
    const differs = gitSha1 !== undefined && this.#sha1.digest("hex") !== gitSha1;
    if (differs || (sha256 !== undefined && digest !== sha256))
      throw upstream("the content does not have the digest that the server announced");
    return { digest, bytes: this.bytes };
  }
}

function upstream(detail: string): NotServed {
  return new NotServed("upstream", detail, { status: 502 });
}

export class DownloadCache {
  readonly #folder: string;
  readonly #limits: CacheLimits;
  readonly #running = new Map<string, Promise<CachedFile>>();

  constructor(folder: string, limits: CacheLimits) {
    this.#folder = folder;
    this.#limits = limits;
    for (const name of ["blobs", "names", "partial", "searched"])
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  }

  get folder(): string {
    return this.#folder;
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
    const partial = join(this.#folder, "partial", randomBytes(12).toString("hex"));
    try {
      const { digest, bytes } = await this.#receive(wanted, partial, signal);
      const path = this.#blob(digest);
      await rename(partial, path);
      for (const name of [wanted.known.gitSha1, wanted.name])
        if (name !== undefined) await this.#putName(name, digest);
      return { path, digest, bytes, cached: false };
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** A connection that is cut goes on where it stopped. */
  async #receive(wanted: WantedFile, partial: string, signal: AbortSignal) {
    const file = await open(partial, "wx", 0o600);
    try {
      const content = new ReceivedContent(file, wanted);
      for (let tries = 1; !(await this.#continue(content, wanted, signal)); tries++) {
        if (tries === triesMax) throw upstream(`the connection was cut ${triesMax} times`);
        await sleep(200 * 2 ** tries, undefined, { signal });
      }
      await file.datasync(); // a name in the cache means whole content, also after a power failure
      return content.checked();
    } finally {
      await file.close();
    }
  }

  /** False if the connection was cut. */
  async #continue(content: ReceivedContent, wanted: WantedFile, signal: AbortSignal): Promise<boolean> {
    const from = content.bytes;
    const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
    const { answer } = await fetchUpstream(wanted.url, { headers, signal });
    if (from > 0 && answer.status !== 206)
      throw upstream("the connection was cut, and the server cannot continue");
    const length = answer.headers.get("content-length");
    const total = wanted.bytes ?? (length === null ? undefined : from + Number(length));
    await this.#room(total ?? 0);
    const bytesMax = Math.min(total ?? Number.POSITIVE_INFINITY, this.#limits.fileBytesMax);
    const pieces = answer.body?.getReader();
    for (;;) {
      const next = await pieces?.read().catch(() => "cut" as const);
      signal.throwIfAborted();
      if (next === "cut") return false;
      if (!next || next.done) return total === undefined || content.bytes === total;
      if (content.bytes + next.value.length > bytesMax) {
        await pieces?.cancel();
        throw new NotServed("too-large", "the file is larger than announced, or than the gateway serves");
      }
      await content.add(next.value);
    }
  }

  async #room(bytes: number): Promise<void> {
    const { fileBytesMax } = this.#limits;
    if (bytes > fileBytesMax)
      throw new NotServed("too-large", `${bytes} bytes are more than the gateway serves (${fileBytesMax})`);
    await this.checkFree(bytes);
  }

  /** Throws if the disk would have too little free space with `bytes` more. */
  async checkFree(bytes = 0): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize - bytes < this.#limits.freeBytesMin) throw noSpace();
  }

  /** Whether the file was searched for these withheld rows before, with its answer. */
  async searched(withheld: string, file: Pick<CachedFile, "digest">, strict: boolean): Promise<unknown> {
    const text = await readFile(this.#searchedFile(withheld, file, strict), "utf8").catch(() => undefined);
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  async putSearched(
    withheld: string,
    file: Pick<CachedFile, "digest">,
    at: { strict: boolean; answer: unknown },
  ) {
    await this.#write(this.#searchedFile(withheld, file, at.strict), JSON.stringify(at.answer));
  }

  #searchedFile(withheld: string, { digest }: Pick<CachedFile, "digest">, strict: boolean): string {
    return join(this.#folder, "searched", hash("sha256", `${withheld} ${digest} ${strict}`));
  }

  #blob(digest: string): string {
    return join(this.#folder, "blobs", digest);
  }

  #nameFile(name: string): string {
    return join(this.#folder, "names", hash("sha256", name));
  }

  #putName(name: string, digest: string): Promise<void> {
    return this.#write(this.#nameFile(name), digest);
  }

  async #write(path: string, text: string): Promise<void> {
    const partial = join(this.#folder, "partial", randomBytes(12).toString("hex"));
    await writeFile(partial, text);
    await rename(partial, path);
  }
}
