// A run's use of a remote cache: takes the result of an action before the action is executed, and sends the result
// of an executed one. Whatever the server does costs time and no more: a result is used only after its signature,
// its key and every byte were checked, and any trouble means that the action is executed here. A server that fails
// several times in a row is not asked again in this run.

import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "@mlrb/core/plan/plan";
import { HttpTrouble } from "@mlrb/kit/http/http-trouble";
import PQueue from "p-queue";
import type { Bound } from "../decide/bind-inputs.ts";
import { gpuNames } from "../leases/gpu-inventory.ts";
import { type RunKey, RunSignatures } from "../signatures/run-key.ts";
import { MissingContent } from "../store/artifact-store.ts";
import { codeFilesIn } from "../store/code-files.ts";
import { ifReadable } from "../store/if-readable.ts";
import type { Workspace } from "../store/workspace.ts";
import { loadContents } from "./load-contents.ts";
import { type RemoteAddress, type RemoteLimits, remoteLimits } from "./remote-client.ts";
import { RemoteDirection } from "./remote-direction.ts";
import { entryBytesMax, entryText, isShared, readEntry, remoteAddress } from "./remote-entry.ts";
import { contentsOf, sendContents } from "./send-contents.ts";

export type RemoteSettings = RemoteAddress & {
  /** The signers whose results are used: a file in the format of ALLOWED SIGNERS in ssh-keygen(1). */
  signers: string;
  /** Signs the results that are sent; without it none is. */
  runKey?: RunKey;
  limits?: Partial<RemoteLimits>;
};

/** What a run took from the cache and sent to it. Counts are of results. */
const noUse = {
  ...{ taken: 0, takenBytes: 0, sent: 0, sentBytes: 0, unsent: 0 },
  rejected: 0, // entries with a bad or unknown signature, or of another action
};
export type RemoteUse = typeof noUse;

type Place = Pick<Workspace, "store" | "verified" | "actions">;

/** `loading` is called with the bytes of a result that is loaded. */
type TakeOptions = { signal: AbortSignal; loading?: (bytes: number) => void };

/** Longer timers end at once. */
const timerMsMax = 2 ** 31 - 1;

const readsMax = 8;
const writesMax = 4;
const sendsMax = 2;

export class RemoteCache {
  readonly #settings: RemoteSettings;
  readonly #limits: RemoteLimits;
  readonly #place: Place;
  readonly #say: (line: string) => void;
  readonly #reads: RemoteDirection;
  readonly #writes: RemoteDirection;
  readonly #signatures: RunSignatures;
  readonly #sends = new PQueue({ concurrency: sendsMax });
  readonly #over = new AbortController();
  readonly #promised = { bytes: 0 };
  readonly #use = { ...noUse };
  readonly #told = new Set<string>();
  /** The time spent on taking results, without the time that the taken ones had needed. */
  #lostMs = 0;

  /** `say` gets one line for each kind of trouble. */
  constructor(settings: RemoteSettings, place: Place, say: (line: string) => void) {
    this.#settings = settings;
    this.#place = place;
    this.#say = say;
    const limits = { ...remoteLimits, ...settings.limits };
    this.#limits = limits;
    this.#reads = new RemoteDirection(settings, { concurrency: readsMax, limits });
    this.#writes = new RemoteDirection(settings, { concurrency: writesMax, limits });
    this.#signatures = new RunSignatures(settings.signers);
  }

  /** Puts the result of an action into the local store and cache. Returns its signer, or undefined without a result. */
  async take(instance: Instance, bound: Bound, how: TakeOptions): Promise<string | undefined> {
    if (this.#reads.isLeft || !isShared(instance)) return undefined;
    const begin = performance.now();
    try {
      const signedBy = await this.#taken(instance, bound, how);
      this.#reads.works();
      return signedBy;
    } catch (error) {
      if (how.signal.aborted) return undefined;
      this.#fails(this.#reads, error, "results are not taken from it");
      return undefined;
    } finally {
      this.#lostMs += performance.now() - begin;
      if (this.#lostMs > this.#limits.patienceMs && this.#reads.leave())
        this.#say(
          "remote cache: results are not taken from it any more in this run: it takes more time than it saves",
        );
    }
  }

  /** Sends the recorded result of an action later. */
  offer(instance: Instance, bound: Bound): void {
    if (!this.#settings.runKey || !isShared(instance)) return;
    void this.#sends.add(() => this.#send(instance, bound));
  }

  /** How many results are still to be sent. */
  get waiting(): number {
    return this.#sends.size + this.#sends.pending;
  }

  /** Waits until everything is sent, `waitMs` at most. */
  async end(waitMs: number): Promise<RemoteUse> {
    await Promise.race([this.#sends.onIdle(), sleep(waitMs, undefined, { ref: false })]);
    this.#use.unsent += this.#sends.size;
    this.#sends.clear();
    this.#over.abort();
    await this.#sends.onIdle();
    this.#reads.close();
    this.#writes.close();
    return this.#use;
  }

  async #taken(instance: Instance, bound: Bound, how: TakeOptions): Promise<string | undefined> {
    const { key } = bound;
    const address = remoteAddress(key, instance, gpuNames);
    const text = await this.#reads.text(`ac/${address}`, { bytesMax: entryBytesMax, ...how });
    if (text === undefined) return undefined;
    const entry = readEntry(text, { key, address, instance, signatures: this.#signatures });
    if (entry.kind === "rejected") {
      this.#use.rejected++;
      const { code, message, help } = entry;
      this.#sayOnce(code, `a result in the remote cache is not used: ${message}${help ? `; ${help}` : ""}`);
      return undefined;
    }
    const { action, signedBy } = entry;
    const limitMs = Math.min(Math.max(this.#limits.takeMs, Math.ceil(2 * action.ran.durationMs)), timerMsMax);
    const limited = AbortSignal.any([how.signal, AbortSignal.timeout(limitMs)]);
    const { store, actions } = this.#place;
    const bytes = await loadContents(action.contents, {
      ...{ ...this.#place, ...how, client: this.#reads },
      ...{ atOnce: readsMax, promised: this.#promised, signal: limited },
    });
    if (!Object.values(action.outputs).every((output) => ifReadable(() => store.canGive(output))))
      throw new HttpTrouble("wrong-bytes", "a signed result does not name all of its contents");
    actions.put({
      formatVersion: 1,
      key,
      parts: bound.parts,
      codeFiles: codeFilesIn(store, bound.codeFiles),
      outputs: action.outputs,
      ran: {
        ...action.ran,
        where: { ...action.ran.where, remoteCache: `signed by ${signedBy}` },
        stage: instance.id,
      },
    });
    this.#lostMs -= action.ran.durationMs;
    this.#use.taken++;
    this.#use.takenBytes += bytes;
    return signedBy;
  }

  async #send(instance: Instance, bound: Bound): Promise<void> {
    if (this.#writes.isLeft) {
      this.#use.unsent++;
      return;
    }
    const signal = this.#over.signal;
    try {
      const sentBytes = await this.#sendResult(instance, bound, signal);
      this.#writes.works();
      this.#use.sent++;
      this.#use.sentBytes += sentBytes;
    } catch (error) {
      this.#use.unsent++;
      if (signal.aborted) return;
      this.#fails(this.#writes, error, "results are not sent to it");
    }
  }

  /** The entry comes last, so that it never names contents that the server lacks. */
  async #sendResult(instance: Instance, { key }: Bound, signal: AbortSignal): Promise<number> {
    const { actions, store } = this.#place;
    const entry = actions.get(key);
    if (!entry) throw new MissingContent("the result is no longer in the cache");
    const { outputs, ran } = entry;
    const { stage, ...where } = ran;
    const address = remoteAddress(key, instance, gpuNames);
    const contents = contentsOf(outputs, store);
    const text = entryText(
      { formatVersion: 1, key, address, stage, outputs, contents, ran: where },
      this.#settings.runKey!,
    );
    const bytes = Buffer.from(text);
    if (bytes.length > entryBytesMax) throw new HttpTrouble("full", "a result has too many files");
    const client = this.#writes;
    const to = { ...this.#place, client, atOnce: writesMax, signal };
    const sentBytes = await sendContents(contents, to);
    await client.put(`ac/${address}`, { bytes, type: "application/json" }, signal);
    return sentBytes + bytes.length;
  }

  /** Says why, and leaves the server alone where asking again is of no use. Rethrows bugs. */
  #fails(direction: RemoteDirection, error: unknown, consequence: string): void {
    // an exception of the DOM, such as a timeout, has a number
    const isOwn =
      error instanceof MissingContent || typeof (error as NodeJS.ErrnoException).code === "string";
    const isTimeout = (error as Error).name === "TimeoutError";
    if (!(error instanceof HttpTrouble) && !isOwn && !isTimeout) throw error;
    const message = isTimeout ? "it took longer than the action" : (error as Error).message;
    // an error of this machine says nothing of the server
    const left = isOwn ? false : direction.fails(error instanceof HttpTrouble ? error.kind : "silent");
    if (left) this.#sayOnce(consequence, `remote cache: ${consequence} any more in this run: ${message}`);
    else if (isOwn) this.#sayOnce(message, `remote cache: ${message}`);
  }

  #sayOnce(about: string, line: string): void {
    if (this.#told.has(about)) return;
    this.#told.add(about);
    this.#say(line);
  }
}
