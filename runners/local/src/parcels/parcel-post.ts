// One end of the post between a runner and its jobs on nodes without a shared disk: parcels of files and slots with news,
// both sealed, in a remote cache. A server that lies, forgets or hangs costs time, and never changes a result.
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readFormat } from "@mlrb/formats/read-format";
import { type TypeOf, text, wholeObject } from "@mlrb/formats/schema";
import type { Parcel } from "@mlrb/formats/stage/parcel";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { execa } from "execa";
import type { RemoteClient } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { lookBytes } from "../remote/send-contents.ts";
import { BrokenSeal, openFile, openText, sealFile, sealText } from "./seal.ts";

const newsBytesMax = 1 << 20;

export type PostSettings = {
  /** For parcels; and for news, which must not wait for parcels. */
  clients: { parcels: RemoteClient; news: RemoteClient };
  /** 32 bytes. */
  key: Buffer;
  /** A folder for archives on their way; made on demand. */
  scratch: string;
  signal: AbortSignal;
};

/** A message of Bazel's protocol, which strict servers check. */
const slotContent = wholeObject({ stdoutRaw: text });

export class ParcelPost {
  readonly #settings: PostSettings;
  readonly #sent = new Set<string>();
  /** Whether the server may have other bytes than were sent. */
  #doubts = false;

  constructor(settings: PostSettings) {
    this.#settings = settings;
  }

  /** Everything is sent again from now on. */
  doubt(): void {
    this.#doubts = true;
    this.#sent.clear();
  }

  /** Packs entries of `folder`, with everything below them, and sends them. Throws RemoteTrouble. */
  async send(folder: string, entries: string[], signal = this.#settings.signal): Promise<Parcel> {
    return this.#inScratch(async (scratch) => {
      const [plain, sealed] = [join(scratch, "plain"), join(scratch, "sealed")];
      await tar(["--create", "--format=gnu", ...equal], {
        file: plain,
        folder,
        entries: ["--", ...entries.map((name) => `./${name}`)],
        signal,
      });
      const { clients, key } = this.#settings;
      const client = clients.parcels;
      const parcel = await sealFile(plain, { to: sealed, key });
      const path = `cas/${parcel.digest}`;
      if (this.#sent.has(parcel.digest)) return parcel;
      const isThere =
        !this.#doubts && parcel.bytes > lookBytes && (await client.sizeOf(path, signal)) === parcel.bytes;
      if (!isThere) await client.put(path, { file: sealed, size: parcel.bytes }, signal);
      this.#sent.add(parcel.digest);
      return parcel;
    });
  }

  /** Whether the server says that it has the parcel. Throws RemoteTrouble. */
  async has({ digest, bytes }: Parcel): Promise<boolean> {
    const { clients, signal } = this.#settings;
    return (await clients.parcels.sizeOf(`cas/${digest}`, signal)) === bytes;
  }

  /** Unpacks a parcel in `folder`. Throws RemoteTrouble; then nothing was unpacked. */
  async fetch({ digest, bytes }: Parcel, folder: string): Promise<void> {
    await this.#inScratch(async (scratch) => {
      const [plain, sealed] = [join(scratch, "plain"), join(scratch, "sealed")];
      const { clients, key, signal } = this.#settings;
      await clients.parcels.download({ digest, bytes, to: sealed, signal });
      await opened(openFile(sealed, { to: plain, key }));
      rmSync(sealed);
      mkdirSync(folder, { recursive: true });
      const own = ["--no-same-owner", "--preserve-permissions"];
      await tar(["--extract", ...own], { file: plain, folder, entries: [], signal });
    });
  }

  async put(job: SlurmJob, from: Side, news: object): Promise<void> {
    const { clients, key, signal } = this.#settings;
    const slot = slotOf(job, from, key);
    const sealed = sealText(JSON.stringify(news), { key, slot });
    const bytes = Buffer.from(JSON.stringify({ stdoutRaw: sealed } satisfies TypeOf<typeof slotContent>));
    await clients.news.put(`ac/${slot}`, { bytes, type: "application/json" }, signal);
  }

  /** The newest news from that side; undefined if there is none. Throws RemoteTrouble. */
  async get<const Schema extends object>(
    job: SlurmJob,
    from: Side,
    schema: Schema,
  ): Promise<TypeOf<Schema> | undefined> {
    const { clients, key, signal } = this.#settings;
    const slot = slotOf(job, from, key);
    const answer = await clients.news.text(`ac/${slot}`, { bytesMax: newsBytesMax, signal });
    if (answer === undefined) return undefined;
    const content = readFormat(slotContent, answer);
    if (content.kind !== "ok") throw new RemoteTrouble("wrong-bytes", "it answers something else than news");
    const opens = await opened((async () => openText(content.value.stdoutRaw, { key, slot }))());
    const reading = readFormat(schema, opens);
    if (reading.kind !== "ok")
      throw new RemoteTrouble("wrong-bytes", `news of another version of mlrb: ${reading.cause}`);
    return reading.value;
  }

  async #inScratch<T>(work: (scratch: string) => Promise<T>): Promise<T> {
    mkdirSync(this.#settings.scratch, { recursive: true, mode: 0o700 });
    const scratch = mkdtempSync(join(this.#settings.scratch, "parcel-"));
    try {
      return await work(scratch);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}

export type Side = "node" | "runner";

/** A server learns nothing from it, and nobody else can write there without being noticed. */
function slotOf({ run, job }: SlurmJob, from: Side, key: Buffer): string {
  return createHmac("sha256", key)
    .update(JSON.stringify([from, run, job]))
    .digest("hex");
}

async function opened<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof BrokenSeal) throw new RemoteTrouble("wrong-bytes", error.message);
    throw error;
  }
}

/** Equal folders have equal archives. Archives of zip have no earlier times than 1980, in any time zone. */
const equal = ["--sort=name", "--mtime=@315619200", "--owner=0", "--group=0", "--numeric-owner"];

type Archive = { file: string; folder: string; entries: string[]; signal: AbortSignal };

async function tar(flags: string[], { file, folder, entries, signal }: Archive): Promise<void> {
  const args = [...flags, "--file", file, "--directory", folder, ...entries];
  const { TAR_OPTIONS: _, ...env } = process.env; // a person's options may leave files out
  const options = { reject: false, stdin: "ignore", env, extendEnv: false, cancelSignal: signal } as const;
  const { failed, stderr, shortMessage } = await execa("tar", args, options);
  signal.throwIfAborted();
  if (failed) throw new Error(`a parcel could not be made or opened: ${stderr.trim() || shortMessage}`);
}
