// The program of a Slurm job on a node that shares no disk with its runner. It fetches the job's files from the remote
// cache to the same paths on this node, starts the program of every Slurm job there, passes news in both directions, and
// sends back what the stage wrote. Reads a ParcelJob from standard input.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { mustFollow, readFormat } from "@mlrb/formats/read-format";
import { type NodeNews, type ParcelJob, parcelJob, runnerNews } from "@mlrb/formats/stage/parcel";
import { type SlurmClaim, slurmDone } from "@mlrb/formats/stage/slurm-job";
import { writeJson } from "@mlrb/kit/json-file";
import { environmentReady } from "../process/environments.ts";
import { slurmProgram } from "../process/slurm-program.ts";
import { RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { ParcelPost } from "./parcel-post.ts";
import { repositoryDigest } from "./repository-digest.ts";

/** Between two looks for the runner's wishes, and between two signs of life. */
const lookMs = 5_000;
/** How long a result waits for a server that does not take it. */
const patienceMs = 10 * 60_000;

class Refusal extends Error {
  readonly fault: "operator" | "machine";

  constructor(fault: "operator" | "machine", message: string) {
    super(message);
    this.fault = fault;
  }
}

async function main(letter: ParcelJob): Promise<void> {
  const { cache, job, folder } = letter;
  const url = new URL(cache.url);
  const client = new RemoteClient(
    { url, token: cache.token ?? undefined },
    { concurrency: 4, limits: remoteLimits },
  );
  const over = new AbortController();
  const post = new ParcelPost({
    ...{ client, key: Buffer.from(letter.key, "hex"), signal: over.signal },
    scratch: join(folder, "parcels"),
  });
  const { SLURM_JOB_ID: id = "", SLURMD_NODENAME: node = hostname() } = process.env;
  const claim: SlurmClaim = { kind: "begun", formatVersion: 1, id, host: hostname(), node };
  const request = letter.request as unknown as ExecutionRequest;
  let news: NodeNews;
  try {
    if (existsSync(join(folder, "job.json")))
      throw new Refusal(
        "operator",
        `the node sees ${folder} of the runner: it shares the disk; remove \`files: remote-cache\` from the profile's \`slurm:\``,
      );
    const earlier = await post.get(job, "runner", runnerNews);
    if (earlier?.kind === "given-up") return;
    await post.put(job, "node", { kind: "lives", formatVersion: 1, claim, beat: 0 } satisfies NodeNews);
    news = await carriedOut(letter, { post, claim, request });
  } catch (error) {
    const { message } = error as Error;
    const fault = error instanceof Refusal ? error.fault : "machine";
    console.error(`mlrb: ${message}`);
    news = { kind: "refused", formatVersion: 1, claim, why: message, fault };
  }
  try {
    await untilTaken(() => post.put(job, "node", news));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(request.work, { recursive: true, force: true });
    over.abort();
    client.close();
  }
  process.exitCode = news.kind === "done" && news.done.result.kind === "succeeded" ? 0 : 1; // for squeue's readers
}

type Carrying = { post: ParcelPost; claim: SlurmClaim; request: ExecutionRequest };

async function carriedOut(letter: ParcelJob, { post, claim, request }: Carrying): Promise<NodeNews> {
  const { job, folder, code, work, inputs } = letter;
  const own = await repositoryDigest(request.root);
  if (own !== code)
    throw new Refusal(
      "operator",
      `the files of ${request.root} on the node are not the runner's: bring both clones to the same commit (git status)`,
    );
  const { environment } = request;
  if (environment && !environmentReady(environment.path))
    throw new Refusal(
      "operator",
      `the node lacks the environment ${environment.path}: make it there with \`pipeline run PIPELINE --only environment\` (docs/cluster.md)`,
    );
  await post.fetch(work, request.work);
  for (const parcel of Object.values(inputs)) await post.fetch(parcel, join(request.work, "in"));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeJson(join(folder, "request.json"), request);
  writeJson(join(folder, "job.json"), job);
  const child = spawn(process.execPath, [...nodeFlags, slurmProgram, folder], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "exit");
  for (const signal of ["SIGTERM", "SIGUSR2"] as const) process.on(signal, () => child.kill(signal));
  const passing = new AbortController();
  const passes = pass(letter, { post, claim, signal: passing.signal });
  await ended;
  passing.abort();
  await passes;
  const done = readFormat(slurmDone, existing(join(folder, "done.json")));
  if (done.kind !== "ok") throw new Refusal("machine", "the job's program ended without a result");
  // an environment of the node may have changed the files while the stage ran
  if ((await repositoryDigest(request.root)) !== code)
    throw new Refusal(
      "operator",
      `the files of ${request.root} on the node were changed while the stage ran`,
    );
  const back = await untilTaken(() => post.send(request.work, { without: ["in", "tmp"] }));
  return { kind: "done", formatVersion: 1, claim, done: done.value, work: back };
}

/** Signs of life to the runner, and its wishes from it, until `signal`. A server that is away is no end. */
async function pass(
  { job, folder }: ParcelJob,
  { post, claim, signal }: { post: ParcelPost; claim: SlurmClaim; signal: AbortSignal },
): Promise<void> {
  for (let beat = 1; !signal.aborted; beat++) {
    try {
      const wish = await post.get(job, "runner", runnerNews);
      if (wish)
        writeJson(
          join(folder, "end.json"),
          wish.kind === "end" ? wish.end : { formatVersion: 1, signal: "USR2" },
        );
      await post.put(job, "node", { kind: "lives", formatVersion: 1, claim, beat } satisfies NodeNews);
    } catch (error) {
      if (!(error instanceof RemoteTrouble)) throw error;
    }
    await sleep(lookMs, undefined, { signal }).catch(() => {});
  }
}

async function untilTaken<T>(send: () => Promise<T>): Promise<T> {
  const begin = performance.now();
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const isOver = performance.now() - begin > patienceMs;
      if (!(error instanceof RemoteTrouble) || error.kind === "refused" || isOver) throw error;
    }
    await sleep(lookMs);
  }
}

function existing(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

await main(mustFollow(parcelJob, JSON.parse(await text(process.stdin)), "the job's letter"));
