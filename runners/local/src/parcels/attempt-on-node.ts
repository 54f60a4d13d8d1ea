// What the job of an attempt does on a node without a shared disk, next to the attempt's step: the state goes to the host
// that submitted before each model call and each second, checkpoints and the end go to the remote cache. While the cache
// does not serve, the agent goes on.
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { hostname } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { relayVariable } from "@mlrb/core/ports/relay";
import { formatDuration } from "@mlrb/core/text/units";
import type { Checkpoint } from "@mlrb/formats/attempt/checkpoint";
import type { ParcelJob } from "@mlrb/formats/stage/parcel";
import { type SlurmDone, slurmOutputs } from "@mlrb/formats/stage/slurm-job";
import { lastCheckpointVariable } from "@mlrb/kit/attempts/last-checkpoint";
import { checkpointsFolder, hasCheckpoint } from "@mlrb/kit/attempts/left-checkpoint";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeJson } from "@mlrb/kit/json-file";
import { makeRelayFolder } from "../process/relay-folder.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { attemptFiles, reports } from "./attempt-files.ts";
import { CheckpointSender } from "./checkpoint-sender.ts";
import type { ParcelPost } from "./parcel-post.ts";
import { relayGate } from "./relay-gate.ts";
import { StateRefused, StateSender } from "./state-sender.ts";
import { untilTaken } from "./until-taken.ts";

/** How long the end of a job waits for the cache. Slurm's limit of the job is half an hour longer than the attempt's. */
const endPatienceMs = 25 * 60_000;
/** Of the checkpoint with which an interrupted attempt ends. */
const lastMs = 5 * 60_000;
const flushPatienceMs = 60_000;
const flushMs = 1_000;
const checkpointMs = 2_000;

/** Files of an attempt that its supervisor reads after the end. */

type Place = { request: ExecutionRequest; post: ParcelPost; signal: AbortSignal };

export class AttemptOnNode {
  readonly #relay = makeRelayFolder();
  readonly #place: Place;
  readonly #checkpoints: CheckpointSender;
  readonly #stepOver = new AbortController();
  readonly #over = new AbortController();
  #state: StateSender | undefined;
  #gate: Server | undefined;
  #sending: Promise<void> = Promise.resolve();
  #said = "";

  constructor(place: Place) {
    this.#place = place;
    const { request, post } = place;
    const { work: folder, outputs } = request;
    this.#checkpoints = new CheckpointSender({
      ...{ post, folder, trajectory: outputs.trajectory ?? "" },
      snapshots: relative(folder, outputs.snapshots ?? ""),
    });
    request.env[relayVariable] = join(this.#relay, "gate");
    request.env[lastCheckpointVariable] = String(lastMs);
  }

  /** The socket at which the channel to the host that submitted listens. */
  get socket(): string {
    return join(this.#relay, "sock");
  }

  /** Brings the files with which the attempt continues. Throws RemoteTrouble: the cache has lost them. */
  async restore({ continues, checkpoints }: NonNullable<ParcelJob["attempt"]>): Promise<void> {
    const { request, signal } = this.#place;
    const folder = join(request.work, checkpointsFolder);
    if (checkpoints.length === 0 && continues && !hasCheckpoint(folder)) {
      // its node died before the first one: the conversation begins again, and what it cost stays counted
      const begin: Checkpoint = { formatVersion: 1, after: 1, workingMs: 0, entries: [] };
      mkdirSync(folder, { recursive: true });
      writeJson(join(folder, "0000.json"), begin);
      this.#say("no checkpoint of it has reached the remote cache: its conversation begins again");
    }
    for (const [at, parcel] of checkpoints.entries())
      try {
        return await untilTaken(() => this.#checkpoints.fetch(parcel), { signal });
      } catch (error) {
        if (!(error instanceof RemoteTrouble) || at === checkpoints.length - 1) throw error;
        this.#say(
          `the remote cache has lost its last checkpoint, and the one before is used: ${error.message}`,
        );
        removeFolder(folder);
      }
  }

  /** `lose` is called once the host that submitted refuses the state: another job has the attempt. */
  start(lose: () => void): void {
    const { work, outputs } = this.#place.request;
    const state = new StateSender(attemptFiles(work, outputs), this.socket);
    const flush = async () => {
      try {
        await state.flush();
      } catch (error) {
        if (error instanceof StateRefused) {
          console.error(`mlrb: ${error.message}`);
          lose();
        }
        throw error;
      }
    };
    this.#state = state;
    this.#gate = relayGate({ path: join(this.#relay, "gate"), to: this.socket, flush });
    const send = () => this.#checkpoints.send(this.#stepOver.signal);
    const trouble = (why: string) =>
      this.#say(`a checkpoint waits for the remote cache, and the agent goes on: ${why}`);
    void this.#each(flushMs, flush, { signal: this.#over.signal, trouble: () => {} });
    this.#sending = this.#each(checkpointMs, send, { signal: this.#stepOver.signal, trouble });
  }

  /** Sends the end; returns the parcel of what the step wrote. Rejects where the cache does not take it in time. */
  async finish({ result, continues }: SlurmDone) {
    const { request, post, signal } = this.#place;
    this.#stepOver.abort();
    await this.#sending;
    this.#gate?.close();
    const end = performance.now() + endPatienceMs;
    const waits = (why: string) =>
      this.#say(
        `the end of its job waits for the remote cache, ${formatDuration(endPatienceMs)} at most: ${why}`,
      );
    const taken = <T>(ask: () => Promise<T>) =>
      untilTaken(ask, { signal, waits, forMs: end - performance.now() });
    // its files go on from the last moment
    if (result.kind !== "succeeded") await taken(() => this.#checkpoints.send(signal));
    // the next job has submission and snapshots of its own
    const outputs = continues ? this.#small() : [...slurmOutputs];
    const names = [...outputs, ...reports].filter((name) => existsSync(join(request.work, name)));
    const parcel = await taken(() => post.send(request.work, names));
    await this.#lastFlush();
    return parcel;
  }

  /** Moves the attempt's files to a place that no later job empties, and says where. */
  async leave(own: { keep: () => void } | undefined, { message }: Error): Promise<void> {
    const { work } = this.#place.request;
    if (!existsSync(work)) return; // done before
    const { SLURM_JOB_ID: id = process.pid, SLURMD_NODENAME: node = hostname() } = process.env;
    const left = `${work}.left-${id}`;
    this.#say(
      `the remote cache did not take the end of its job: ${message}. The attempt continues from its last checkpoint; its files stay on the node ${node}: ${left}`,
    );
    await this.#lastFlush();
    own?.keep();
    renameSync(work, left);
  }

  close(): void {
    this.#stepOver.abort();
    this.#over.abort();
    this.#gate?.close();
    rmSync(this.#relay, { recursive: true, force: true });
  }

  #small(): string[] {
    const { work, outputs } = this.#place.request;
    const small = [outputs.trajectory, outputs.attachments, outputs.ledger];
    return small.flatMap((path) => (path === undefined ? [] : [relative(work, path)]));
  }

  async #lastFlush(): Promise<void> {
    const begin = performance.now();
    for (;;) {
      try {
        return await this.#state?.flush();
      } catch (error) {
        const isOver = performance.now() - begin > flushPatienceMs;
        if (isOver || error instanceof StateRefused) return; // the parcel holds the same, but for the log
      }
      await sleep(flushMs);
    }
  }

  async #each(
    pauseMs: number,
    work: () => Promise<void>,
    { signal, trouble }: { signal: AbortSignal; trouble: (why: string) => void },
  ): Promise<void> {
    while (!signal.aborted) {
      await work().catch((error: Error) => {
        if (!signal.aborted) trouble(error.message);
      });
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Once for each trouble. */
  #say(line: string): void {
    if (line === this.#said) return;
    this.#said = line;
    try {
      appendFileSync(this.#place.request.log, `mlrb: ${line}\n`);
    } catch {
      // a full disk is reported by what needs the disk
    }
  }
}
