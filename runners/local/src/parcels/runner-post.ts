// The runner's end of the post to its jobs on nodes without a shared disk; the port is in the package slurm.
import { createHmac } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
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
import { type RemoteAddress, RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { stateSecret } from "../stage/secret-seed.ts";
import { ParcelPost } from "./parcel-post.ts";
import { untilTaken } from "./until-taken.ts";

export type RunnerPostPlace = {
  cache: RemoteAddress;
  /** The folder `.mlrb`. */
  state: string;
  /** A folder of this run. */
  scratch: string;
};

const requestsMax = 8;

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
  async script(
    job: SlurmJob,
    { folder, request, signal }: { folder: string; request: ExecutionRequest; signal: AbortSignal },
  ): Promise<string | { refused: string }> {
    try {
      const letter = await this.#packing.add(() => this.#letter(job, { folder, request, signal }));
      const argv = [process.execPath, ...nodeFlags, join(import.meta.dirname, "parcel-job.ts")];
      return jobScript(argv, JSON.stringify(letter));
    } catch (error) {
      if (error instanceof RemoteTrouble && (error.kind === "refused" || error.kind === "full"))
        return { refused: error.message };
      throw error;
    }
  }

  async #letter(
    job: SlurmJob,
    { folder, request, signal }: { folder: string; request: ExecutionRequest; signal: AbortSignal },
  ): Promise<ParcelJob> {
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
    const rest = readdirSync(work).filter((name) => name !== "in");
    return {
      formatVersion: 1,
      cache: { url: cache.url.href, token: cache.token ?? null },
      key: this.#key.toString("hex"),
      ...{ folder, job, inputs },
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

  /** Puts what the node sent back into the work folder; its log goes to the end of the log here. `scratch` is empty. */
  async collect(
    parcel: Parcel,
    { work, log, scratch }: { work: string; log: string; scratch: string },
  ): Promise<void> {
    mkdirSync(scratch, { recursive: true });
    await this.#post.fetch(parcel, scratch);
    const nodeLog = join(scratch, "log");
    for (const name of readdirSync(scratch)) {
      if (join(scratch, name) === nodeLog) continue;
      rmSync(join(work, name), { recursive: true, force: true });
      renameSync(join(scratch, name), join(work, name));
    }
    if (readdirSync(scratch).includes("log")) appendFileSync(log, readFileSync(nodeLog));
    rmSync(scratch, { recursive: true, force: true });
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
