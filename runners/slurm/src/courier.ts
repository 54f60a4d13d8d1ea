// Makes the folder of a job on a node without a shared disk look as if the disk were shared: what the node says becomes
// the job's files here, and the runner's wishes in those files are passed on. So whoever follows a job need not know how
// its files travel.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { unreachable } from "@mlrb/core/ports/outcome";
import type { NodeNews, Parcel, RunnerNews } from "@mlrb/formats/stage/parcel";
import type { SlurmDone, SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { writeJson } from "@mlrb/kit/json-file";
import type { JobFolder } from "./job-folder.ts";
import { StageLog } from "./stage-log.ts";

/** The runner's end of the post to its jobs. Calls reject where the server does not serve. */
export type JobPost = {
  /** Sends the files of a job; resolves with its script, or with the reason why trying again is of no use. */
  script(
    job: SlurmJob,
    files: { folder: string; request: ExecutionRequest; signal: AbortSignal; isAttempt?: boolean },
  ): Promise<string | { refused: string }>;
  news(job: SlurmJob): Promise<NodeNews | undefined>;
  tell(job: SlurmJob, news: RunnerNews): Promise<void>;
  /** Everything is sent again, since a node did not get it. */
  doubt(): void;
  collect(
    parcel: Parcel,
    to: { work: string; log: string; scratch: string; grown?: string[] },
  ): Promise<void>;
  close(): void;
};

export type CourierOptions = {
  post: JobPost;
  folder: JobFolder;
  job: SlurmJob;
  intervalMs: number;
  /** Append-only files in the work folder: what the node sends must begin with what is here. */
  grown?: string[] | undefined;
  /** Called after each answer of the server. */
  heard: () => void;
};

/** Works from `start` until `stop`, or until it has brought the end of the job. */
export class Courier {
  readonly #options: CourierOptions;
  readonly #log: StageLog;
  readonly #stopped = new AbortController();
  #wake = new AbortController();
  #beat: number | undefined;
  #told = "";
  #lookedMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#log = new StageLog(options.job.log);
  }

  start(): void {
    void this.#work();
  }

  /** Whether a look that began later than this moment brought no end. */
  hasLookedSince(ms: number): boolean {
    return this.#lookedMs > ms && !this.#isBusy;
  }

  /** Whether it brings outputs. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Ends the pause before the next look. */
  look(): void {
    this.#wake.abort();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#tell();
        const begin = performance.now();
        if (await this.#hear()) return;
        this.#lookedMs = begin;
        this.#options.heard();
      } catch (error) {
        this.#log.once(`the remote cache does not serve its job: ${(error as Error).message}`);
      }
      const awake = AbortSignal.any([signal, this.#wake.signal]);
      await sleep(this.#options.intervalMs, undefined, { signal: awake }).catch(() => {});
    }
    // a wish that came last
    await this.#tell().catch(() => {});
  }

  async #tell(): Promise<void> {
    const { post, folder, job } = this.#options;
    const end = folder.wish();
    const news: RunnerNews | undefined = folder.isGivenUp()
      ? { kind: "given-up", formatVersion: 1 }
      : end && { kind: "end", formatVersion: 1, end };
    const text = news ? JSON.stringify(news) : "";
    if (!news || text === this.#told) return;
    await post.tell(job, news);
    this.#told = text;
  }

  /** Whether it was the last news. */
  async #hear(): Promise<boolean> {
    const { post, folder, job, grown } = this.#options;
    const news = await post.news(job);
    if (news === undefined) return false;
    if (news.claim.kind !== "begun" || !folder.claim(news.claim)) return false; // it was given up: nothing of it is used
    switch (news.kind) {
      case "lives":
        if (news.beat !== this.#beat) folder.lives();
        this.#beat = news.beat;
        return false;
      case "done": {
        const scratch = join(folder.path, "arrived");
        const { work, log } = job;
        if (!existsSync(work)) return true; // its run was cleared
        this.#isBusy = true;
        try {
          await post.collect(news.work, { work, log, scratch, ...(grown && { grown }) });
        } finally {
          this.#isBusy = false;
        }
        this.#done(news.done);
        return true;
      }
      case "refused": {
        const { claim, fault, why } = news;
        if (fault === "parcel") {
          post.doubt();
          folder.doubts(); // the attempt's next job has a post of its own
        }
        const { id, host, node } = claim as Extract<NodeNews["claim"], { kind: "begun" }>;
        const cause = fault === "operator" ? "operator" : "machine";
        const result = { kind: "failed", cause, detail: `${why} (node ${node})` } as const;
        const wrote = { files: 0, bytes: 0, digest: "0".repeat(64) };
        this.#done({ formatVersion: 1, job: job.job, id, host, node, result, wrote });
        return true;
      }
      default:
        return unreachable(news);
    }
  }

  #done(done: SlurmDone): void {
    writeJson(join(this.#options.folder.path, "done.json"), done);
    this.#options.heard();
  }
}
