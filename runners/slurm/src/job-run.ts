// Follows one stage's job from its submission to its end, or a job that a dead run has submitted.
import { type FSWatcher, watch } from "node:fs";
import type { ExecutionRequest, Place, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { quiet } from "@mlrb/kit/processes/process-table";
import { callSlurm } from "./call-slurm.ts";
import { accountedState } from "./job-account.ts";
import type { JobFolder } from "./job-folder.ts";
import { withOutputs } from "./job-outputs.ts";
import type { JobNews, JobQueue, WatchedJob } from "./job-queue.ts";
import { jobResult, needsState } from "./job-result.ts";
import { isFinal, isLost, type JobState } from "./job-state.ts";
import type { JobTimes } from "./job-times.ts";
import { endInOutput } from "./read-squeue.ts";
import { StageLog } from "./stage-log.ts";
import { type Sbatch, submitJob } from "./submit-job.ts";
import type { Turns } from "./turns.ts";

/** What all jobs of a run share. */
export type Means = { env: NodeJS.ProcessEnv; queue: JobQueue; submissions: Turns; times: JobTimes };

export type JobRunOptions = Means & {
  folder: JobFolder;
  job: SlurmJob;
  limits: ExecutionRequest["limits"];
  /** Makes the submission; it rejects where the machine fails. Undefined for a job that was submitted before. */
  submission?: (signal: AbortSignal) => Promise<Sbatch>;
};

export class JobRun implements Running {
  readonly ended: Promise<ExecutionResult>;
  readonly began: Promise<Place>;
  readonly #options: JobRunOptions;
  readonly #watched: WatchedJob;
  #isSubmitted = false;
  readonly #sending = new AbortController();
  readonly #end = Promise.withResolvers<ExecutionResult>();
  readonly #begin = Promise.withResolvers<Place>();
  #hasBegun = false;
  #files: FSWatcher | undefined;
  #asked: { signal: "TERM" | "USR2"; sinceMs: number; sent: boolean } | undefined;
  #listed: JobState | undefined;
  #hasNode = false;
  /** When Slurm first said that the job has ended or is unknown. */
  #overSinceMs: number | undefined;
  /** The last sign of life, and when this host first saw it. */
  #beat: { at: string; sinceMs: number } | undefined;
  readonly #log: StageLog;
  #silent = false;
  #over = false;
  #concludes = false;

  constructor(options: JobRunOptions) {
    this.#options = options;
    const { run, job } = options.job;
    this.#watched = { run, job, id: options.folder.id(), hear: (news) => this.#hear(news) };
    this.#log = new StageLog(options.job.log);
    this.began = this.#begin.promise;
    this.ended = this.#follow();
  }

  askToEnd(): void {
    this.#ask("TERM");
  }

  kill(): void {
    this.#ask("USR2");
  }

  async #follow(): Promise<ExecutionResult> {
    const { folder, submission, queue } = this.#options;
    if (submission) {
      const submitted = await submitJob(() => submission(this.#sending.signal), {
        ...this.#options,
        isAsked: () => this.#asked !== undefined,
        isGivenUp: () => this.#isGivenUp(),
        log: this.#log,
      });
      if (submitted.kind !== "submitted") {
        this.#over = true;
        return submitted;
      }
      if (submitted.id !== undefined) this.#hasId(submitted.id);
    }
    this.#isSubmitted = true;
    // no watcher may be left, or the file system has none: the next answer of Slurm is waited for
    this.#files = quiet(() => watch(folder.path, () => this.#update()));
    queue.watch(this.#watched);
    if (this.#asked) this.#ask(this.#asked.signal); // meanwhile it got an id
    this.#update();
    const ended = await this.#end.promise;
    queue.unwatch(this.#watched);
    this.#files?.close();
    const result = await withOutputs(ended, {
      wrote: folder.done()?.wrote,
      work: this.#options.job.work,
      lateMs: this.#options.times.lateMs,
      isAsked: () => this.#asked !== undefined,
    });
    if (result.kind === "failed" && result.cause === "machine") await this.#giveUp();
    if (result.kind === "failed") this.#log.say(`${result.detail} (Slurm job ${this.#id()})`);
    return result;
  }

  #hear(news: JobNews): void {
    const { id } = this.#watched;
    this.#lookForBegin();
    if (this.#watched.id !== id) return; // the news is of another job
    switch (news.kind) {
      case "silent":
        if (!this.#silent) this.#log.say(`Slurm does not answer: ${news.detail}`);
        this.#silent = true;
        this.#update();
        this.#leave();
        return;
      case "listed": {
        const { state, reason, node } = news.job;
        if (id === undefined) this.#hasId(news.job.id);
        this.#listed = state;
        this.#hasNode ||= node !== "";
        if (state === "pending" && reason !== "") this.#log.waits(reason);
        if (isFinal(state)) this.#overSinceMs ??= performance.now();
        else {
          this.#overSinceMs = undefined;
          this.#beat = undefined;
        }
        break;
      }
      case "absent":
        this.#listed = undefined;
        this.#overSinceMs ??= performance.now();
    }
    this.#silent = false;
    void this.#signal();
    this.#update();
  }

  /** Ends the wait if what is known now is enough. */
  #update(): void {
    if (this.#over) return;
    const { folder, limits, times, queue } = this.#options;
    this.#lookForBegin();
    const done = folder.done();
    const asked = this.#asked !== undefined;
    const unlaunched = this.#hasNode && folder.begun() === undefined;
    const known = { done, state: this.#listed, unlaunched, asked, limits, said: "" };
    const isOver = this.#overSinceMs !== undefined;
    const isCut = asked || (this.#listed !== undefined && isLost(this.#listed));
    const isEnd = isOver && this.#listed !== undefined && (done !== undefined || isCut);
    if (isEnd || (done && !needsState(known))) this.#resolve(jobResult(known));
    else if (!isOver) {
      if (done) queue.look();
    } else if (this.#listed !== undefined && !done && this.#isGivenUp()) {
      void this.#conclude(); // it never began, and never will: no file of it can come
    } else {
      const left = times.lateMs - (performance.now() - this.#overSinceMs!);
      if (left <= 0) void this.#conclude();
      else setTimeout(() => this.#update(), left + 1).unref();
    }
  }

  /** Of two submissions, the one that has begun is watched; the other ends by itself, and need not wait for a node. */
  #lookForBegin(): void {
    const begun = this.#hasBegun ? undefined : this.#options.folder.begun();
    if (!begun) return;
    this.#hasBegun = true;
    this.#begin.resolve({ node: begun.node, job: begun.id });
    const { id } = this.#watched;
    if (id === begun.id) return;
    this.#hasId(begun.id);
    if (id === undefined) return;
    void this.#cancel([id]);
    this.#listed = undefined;
    this.#overSinceMs = undefined;
    this.#options.queue.look();
  }

  /** Of a job whose last file did not come, or of which Slurm knows no end. */
  async #conclude(): Promise<void> {
    if (this.#over || this.#concludes) return;
    this.#concludes = true;
    const { folder, limits } = this.#options;
    const state = this.#listed ?? (await this.#forgottenState());
    this.#concludes = false;
    if (this.#over) return;
    const done = folder.done();
    const mayGoOn = !done && state === undefined && !this.#isGivenUp() && this.#mayGoOn();
    if (mayGoOn) {
      setTimeout(() => this.#update(), this.#options.times.silentMs / 10).unref();
      return; // another try would run next to it
    }
    const line = folder.said().trim().split("\n").at(-1) ?? "";
    const unlaunched = this.#hasNode && folder.begun() === undefined;
    const asked = this.#asked !== undefined;
    this.#resolve(jobResult({ done, state, unlaunched, asked, limits, said: line.slice(-400) }));
  }

  /** By the accounts of the cluster, or else by what Slurm wrote into the job's output. Undefined if neither says it. */
  async #forgottenState(): Promise<JobState | undefined> {
    const { folder, job, env } = this.#options;
    const { id } = this.#watched;
    const accounted = id === undefined ? undefined : await accountedState(id, job.run, env);
    return accounted ?? endInOutput(folder.said());
  }

  /** Whether a job that Slurm does not know has lately given a sign of life. */
  #mayGoOn(): boolean {
    const { folder, times } = this.#options;
    const at = folder.beat();
    if (this.#beat?.at !== at) {
      if (this.#beat) this.#log.waits("Slurm does not know its job any more, but the job lives");
      this.#beat = { at, sinceMs: performance.now() };
    }
    return performance.now() - this.#beat!.sinceMs < times.silentMs;
  }

  /** Before it is tried again: this job neither begins nor goes on. */
  async #giveUp(): Promise<void> {
    const id = this.#id();
    this.#isGivenUp();
    this.#options.folder.end("USR2");
    if (id !== undefined) await this.#cancel([id]);
  }

  /** Gives it up unless it has begun. A full disk leaves this open: it is asked again at the next news. */
  #isGivenUp(): boolean {
    try {
      return this.#options.folder.giveUp();
    } catch (error) {
      this.#log.waits(`its folder cannot be written: ${(error as Error).message}`);
      return false;
    }
  }

  #hasId(id: string): void {
    this.#watched.id = id;
    this.#options.folder.hasId(id);
  }

  #ask(signal: "TERM" | "USR2"): void {
    this.#asked = { signal, sinceMs: this.#asked?.sinceMs ?? performance.now(), sent: false };
    if (this.#over) return;
    this.#sending.abort();
    if (!this.#isSubmitted) return; // the submission looks for the wish
    const id = this.#id();
    if (this.#isGivenUp()) {
      if (id !== undefined) void this.#cancel([id]);
      this.#resolve({ kind: "cancelled" });
    } else {
      this.#options.folder.end(signal);
      void this.#signal();
      if (signal === "USR2") setTimeout(() => this.#leave(), this.#options.times.graceMs).unref();
    }
  }

  /** A job that was to be killed and that neither Slurm nor its folder reaches is left to a person. */
  #leave(): void {
    if (this.#over || this.#asked?.signal !== "USR2" || !this.#silent) return;
    if (performance.now() - this.#asked.sinceMs < this.#options.times.graceMs) return;
    const line = `Slurm does not answer, and job ${this.#id()} may go on: end it with \`scancel ${this.#id()}\``;
    this.#log.say(line);
    process.stderr.write(`${this.#options.job.stage}: ${line}\n`);
    this.#resolve({ kind: "cancelled" });
  }

  /** Signals the job's program, which ends its process tree. After a grace time, Slurm ends the job. */
  async #signal(): Promise<void> {
    const id = this.#id();
    if (!this.#asked || this.#over || id === undefined) return;
    const { signal, sinceMs, sent } = this.#asked;
    const { graceMs } = this.#options.times;
    if (performance.now() - sinceMs > graceMs) await this.#cancel([id]);
    else if (!sent) {
      this.#asked.sent = await this.#cancel(["--batch", `--signal=${signal}`, id]);
      setTimeout(() => this.#options.queue.look(), graceMs + 100).unref();
    }
  }

  async #cancel(args: string[]): Promise<boolean> {
    return (await callSlurm("scancel", args, { env: this.#options.env })).kind === "ok";
  }

  #id(): string | undefined {
    return this.#watched.id ?? this.#options.folder.id();
  }

  #resolve(result: ExecutionResult): void {
    this.#over = true;
    this.#end.resolve(result);
  }
}
