// The channel from the host that submits to the relay's program on a job's node: standard input and output of a
// step of the job, which Slurm carries. It is opened again until the job ends: steps fail while a controller is
// away.
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { withoutOptions } from "../call-slurm.ts";
import { hostEnd } from "./channel-ends.ts";

export type RelayChannelOptions = {
  /** Takes the channel, until the channel ends. */
  server: { serve(channel: Duplex): Promise<void> };
  /** The id of the job in Slurm. */
  job: string;
  /** The socket's path on the node. */
  socket: string;
  env: NodeJS.ProcessEnv;
  /** Called with Slurm's words where a channel broke. */
  broke(detail: string): void;
  pauseMs?: { least: number; most: number };
};

/** The channel's other end. */
const relayNode = join(import.meta.dirname, "relay-node.ts");

export class RelayChannel {
  readonly #options: RelayChannelOptions;
  readonly #closing = new AbortController();
  readonly #over: Promise<void>;
  #child: ChildProcess | undefined;

  constructor(options: RelayChannelOptions) {
    this.#options = options;
    this.#over = this.#keepOpen();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#child?.kill("SIGTERM");
    await this.#over;
  }

  async #keepOpen(): Promise<void> {
    const { broke, pauseMs: { least, most } = { least: 1_000, most: 30_000 } } = this.#options;
    let pauseMs = least;
    let said = "";
    while (!this.#closing.signal.aborted) {
      const begin = performance.now();
      const detail = await this.#once();
      if (this.#closing.signal.aborted) return;
      if (detail !== said) broke(detail);
      said = detail;
      pauseMs = performance.now() - begin > most ? least : pauseMs;
      await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, most);
    }
  }

  /** One channel, from its opening to its end; returns what Slurm said. */
  async #once(): Promise<string> {
    const { server, job, socket, env } = this.#options;
    const program = [process.execPath, ...nodeFlags, relayNode, socket];
    const child = spawn("srun", [`--jobid=${job}`, `--chdir=${tmpdir()}`, ...step, ...program], {
      cwd: tmpdir(),
      env: { ...withoutOptions(env), LC_ALL: "C" },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // a signal of the terminal must not reach it
    });
    this.#child = child;
    const ended = new Promise<string>((resolve) => {
      child.on("error", (error) => resolve(error.message));
      child.on("close", (code, signal) => resolve(`srun ended with ${signal ?? code}`));
    });
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      words = (words + part).slice(-2_000);
    });
    for (const pipe of [child.stdin, child.stdout]) pipe.on("error", () => {}); // its end follows
    await Promise.race([server.serve(hostEnd(child.stdout, child.stdin)), ended]);
    child.kill("SIGTERM");
    const how = await Promise.race([ended, sleep(5_000, "srun does not end", { ref: false })]);
    child.kill("SIGKILL");
    const last = words
      .trim()
      .split("\n")
      .findLast((line) => line.startsWith("srun: error:"));
    return last?.replace(/^srun: error: /, "") ?? how;
  }
}

/** A step of the job that shares the job's CPUs and memory, and takes none of its GPUs. */
const step = (
  "--overlap --nodes=1 --ntasks=1 --cpus-per-task=1 --mem=0 --gres=none --quiet --export=NONE " +
  "--input=0 --output=0 --error=0 --job-name=mlrb-relay --kill-on-bad-exit=0"
).split(" ");
