// The runner's end of the post to its jobs on nodes without a shared disk; the port is in the package slurm.
import { createHmac } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "@mlrb/core/ports/command-line";
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
import { type RemoteAddress, RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { stateSecret } from "../stage/secret-seed.ts";
import { ParcelPost } from "./parcel-post.ts";
import { repositoryDigest } from "./repository-digest.ts";

export type RunnerPostPlace = {
  cache: RemoteAddress;
  repository: string;
  /** The folder `.mlrb`. */
  state: string;
  /** A folder of this run. */
  scratch: string;
};

const requestsMax = 8;

export class RunnerPost {
  readonly #place: RunnerPostPlace;
  readonly #key: Buffer;
  readonly #client: RemoteClient;
  readonly #post: ParcelPost;
  readonly #over = new AbortController();
  #code: Promise<string> | undefined;
  /** Parcels of artifacts, by digest: a model is packed once for all its scorers. */
  readonly #packed = new Map<string, Promise<Parcel>>();

  constructor(place: RunnerPostPlace) {
    this.#place = place;
    this.#key = createHmac("sha256", stateSecret(place.state)).update("parcels").digest();
    this.#client = new RemoteClient(place.cache, { concurrency: requestsMax, limits: remoteLimits });
    const { scratch } = place;
    this.#post = new ParcelPost({ client: this.#client, key: this.#key, scratch, signal: this.#over.signal });
  }

  /** Sends the files of a job; returns its script. Throws with the reason. */
  async script(
    job: SlurmJob,
    { folder, request }: { folder: string; request: ExecutionRequest },
  ): Promise<string> {
    const { repository, cache } = this.#place;
    this.#code ??= repositoryDigest(repository);
    const inside = join(request.work, "in");
    const inputs: Record<string, Parcel> = {};
    for (const name of readdirSync(inside)) {
      const artifact = request.booked?.artifacts?.[name];
      const pack = () => this.#post.send(inside, { entry: `./${name}` });
      inputs[name] = await (artifact === undefined ? pack() : this.#once(artifact, name, pack));
    }
    const letter: ParcelJob = {
      formatVersion: 1,
      cache: { url: cache.url.href, token: cache.token ?? null },
      key: this.#key.toString("hex"),
      code: await this.#code,
      ...{ folder, job, inputs },
      request: JSON.parse(JSON.stringify(request)),
      work: await this.#post.send(request.work, { without: ["in"] }),
    };
    const argv = [process.execPath, ...nodeFlags, join(import.meta.dirname, "parcel-job.ts")];
    return `#!/bin/sh\nexec ${argv.map(shellWord).join(" ")} <<'LETTER'\n${JSON.stringify(letter)}\nLETTER\n`;
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
    this.#client.close();
  }

  #once(artifact: string, name: string, pack: () => Promise<Parcel>): Promise<Parcel> {
    const known = this.#packed.get(`${artifact} ${name}`); // the archive names the input
    if (known) return known;
    const packed = pack();
    this.#packed.set(`${artifact} ${name}`, packed);
    packed.catch(() => this.#packed.delete(`${artifact} ${name}`));
    return packed;
  }
}
