// The runner's end of the post to its jobs on nodes without a shared disk; the port is in the package slurm.
import { createHmac } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { jobScript } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import {
  type NodeNews,
  nodeNews,
  type Parcel,
  type ParcelJob,
  type RunnerNews,
} from "@mlrb/formats/stage/parcel";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import PQueue from "p-queue";
import type { RemoteAddress } from "../remote/http-exchange.ts";
import { RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { stateSecret } from "../stage/secret-seed.ts";
import { reports } from "./attempt-files.ts";
import { attemptParcel, mustHaveGrown } from "./attempt-parcel.ts";
import { CheckpointSender } from "./checkpoint-sender.ts";
import { ParcelPost } from "./parcel-post.ts";
import { untilTaken } from "./until-taken.ts";

export type RunnerPostPlace = {
  cache: RemoteAddress;
  /** The folder `.mlrb`. */
  state: string;
  /** A folder of this run. */
  scratch: string;
  /** Absolute; the Node program that carries out the request in a job's folder. */
  program: string;
};

const requestsMax = 8;

type JobFiles = {
  folder: string;
  request: ExecutionRequest;
  signal: AbortSignal;
  /** Whether it is a job of an attempt: the work folder is the attempt's. */
  isAttempt?: boolean;
};

export class RunnerPost {
  readonly #place: RunnerPostPlace;
  readonly #key: Buffer;
  readonly #clients: { parcels: RemoteClient; news: RemoteClient };
  readonly #post: ParcelPost;
  readonly #over = new AbortController();
  /** Archives on their way need room on the disk. */
  readonly #packing = new PQueue({ concurrency: 2 });
  /** Parcels of artifacts, by digest: a model is packed once for all its scorers. */
  readonly #packed = new Map<string, Promise<Parcel>>();

  constructor(place: RunnerPostPlace) {
    this.#place = place;
    this.#key = createHmac("sha256", stateSecret(place.state)).update("parcels").digest();
    const client = () => new RemoteClient(place.cache, { concurrency: requestsMax, limits: remoteLimits });
    this.#clients = { parcels: client(), news: client() };
    const { scratch } = place;
    this.#post = new ParcelPost({
      ...{ clients: this.#clients, key: this.#key, scratch, signal: this.#over.signal },
    });
  }

  /** Sends the files of a job; returns its script. Waits for a server that is away. Throws with the reason. */
  async script(job: SlurmJob, files: JobFiles): Promise<string | { refused: string }> {
    try {
      const letter = await this.#packing.add(() => this.#letter(job, files));
      const argv = [process.execPath, ...nodeFlags, join(import.meta.dirname, "parcel-job.ts")];
      return jobScript(argv, JSON.stringify(letter));
    } catch (error) {
      if (error instanceof RemoteTrouble && (error.kind === "refused" || error.kind === "full"))
        return { refused: error.message };
      throw error;
    }
  }

  async #letter(job: SlurmJob, { folder, request, signal, isAttempt }: JobFiles): Promise<ParcelJob> {
    const { cache } = this.#place;
    const { work } = request;
    const inside = join(work, "in");
    const both = AbortSignal.any([signal, this.#over.signal]);
    const send = (from: string, names: string[]) =>
      untilTaken(() => this.#post.send(from, names, both), { signal: both });
    const inputs: Record<string, Parcel> = {};
    for (const name of readdirSync(inside)) {
      const artifact = request.booked?.content?.inputs[name];
      const pack = () => send(inside, [name]);
      inputs[name] = await (artifact === undefined ? pack() : this.#once(`${artifact} ${name}`, pack));
    }
    const attempt = isAttempt ? attemptParcel(request) : undefined;
    const rest = attempt?.names ?? readdirSync(work).filter((name) => name !== "in");
    return {
      formatVersion: 1,
      ...(attempt && { attempt: attempt.letter }),
      cache: { url: cache.url.href, token: cache.token ?? null },
      key: this.#key.toString("hex"),
      ...{ folder, job, inputs, program: this.#place.program },
      request: JSON.parse(JSON.stringify(request)),
      work: await send(work, rest),
    };
  }

  async news(job: SlurmJob): Promise<NodeNews | undefined> {
    return this.#post.get(job, "node", nodeNews);
  }

  async tell(job: SlurmJob, news: RunnerNews): Promise<void> {
    await this.#post.put(job, "runner", news);
  }

  /** A node did not get what was sent. */
  doubt(): void {
    this.#packed.clear();
    this.#post.doubt();
  }

  /** Puts what the node sent back into the work folder; its log goes to the end of the log here. `grown`: append-only files, which must begin as they are here. */
  async collect(
    parcel: Parcel,
    { work, log, scratch, grown = [] }: { work: string; log: string; scratch: string; grown?: string[] },
  ): Promise<void> {
    rmSync(scratch, { recursive: true, force: true }); // of a try that was cut short
    mkdirSync(scratch, { recursive: true });
    await this.#post.fetch(parcel, scratch);
    mustBeOutputs(scratch, grown.length > 0);
    for (const name of grown) mustHaveGrown(join(work, name), join(scratch, name));
    const nodeLog = join(scratch, "log");
    for (const name of readdirSync(scratch)) {
      if (join(scratch, name) === nodeLog) continue;
      // an attempt's record is never missing here, even if this process is killed now
      if (name === "out" && grown.length > 0) replaceIn(join(work, name), join(scratch, name));
      else replace(join(work, name), join(scratch, name));
    }
    if (readdirSync(scratch).includes("log")) appendFileSync(log, readFileSync(nodeLog));
    rmSync(scratch, { recursive: true, force: true });
  }

  /**
   * Brings the list of a checkpoint, its small files, and the large ones of the paths that are wanted into a folder. Throws
   * as `CheckpointSender.fetch`.
   */
  async fetchCheckpoint(
    parcel: Parcel,
    { folder, isWanted }: { folder: string; isWanted: (path: string) => boolean },
  ): Promise<void> {
    const post = this.#post;
    await new CheckpointSender({ post, folder, trajectory: "", snapshots: "" }).fetch(parcel, isWanted);
  }

  close(): void {
    this.#over.abort();
    this.#clients.parcels.close();
    this.#clients.news.close();
  }

  /** An archive names its input, so `what` does too. */
  #once(what: string, pack: () => Promise<Parcel>): Promise<Parcel> {
    const known = this.#packed.get(what);
    if (known) return known;
    const packed = pack();
    this.#packed.set(what, packed);
    packed.catch(() => this.#packed.delete(what));
    return packed;
  }
}

/**
 * Every node has the key of parcels, and decides what is in one. Throws for anything but outputs: another file would take
 * the place of the attempt's own, and a link would lead to files of this host.
 */
function mustBeOutputs(folder: string, isAttempt: boolean): void {
  const files = ["log", "refusals.jsonl", ...(isAttempt ? reports : [])];
  for (const name of readdirSync(folder)) {
    const stats = lstatSync(join(folder, name));
    if (name === "out" ? !stats.isDirectory() : !files.includes(name) || !stats.isFile())
      throw new Error(`its node sent ${name}, which is no output`);
  }
  const out = join(folder, "out");
  if (!isAttempt || !existsSync(out)) return;
  for (const name of readdirSync(out))
    if (lstatSync(join(out, name)).isSymbolicLink())
      throw new Error(`its node sent out/${name}, which is a link`);
}

function replaceIn(folder: string, by: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(by)) replace(join(folder, name), join(by, name));
}

/** A file takes the place of a file at once. */
function replace(path: string, by: string): void {
  if (lstatSync(by).isDirectory() || lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    rmSync(path, { recursive: true, force: true });
  renameSync(by, path);
}
