// The program of a Slurm job on a node that shares no disk with its runner. It fetches the job's files from the remote
// cache to the same paths on this node, starts the program of every Slurm job there, passes news in both directions, and
// sends back what the stage wrote. Reads a ParcelJob from standard input.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { mustFollow, readFormat } from "@mlrb/formats/read-format";
import { type NodeNews, nodeNews, type ParcelJob, parcelJob, runnerNews } from "@mlrb/formats/stage/parcel";
import { type SlurmClaim, type SlurmDone, slurmDone, slurmOutputs } from "@mlrb/formats/stage/slurm-job";
import { writeJson } from "@mlrb/kit/json-file";
import { artifactDigest } from "../digests/artifact-digest.ts";
import { hashFile } from "../digests/hash-file.ts";
import { environmentReady } from "../process/environments.ts";
import { RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { AttemptOnNode } from "./attempt-on-node.ts";
import { claimFolders } from "./job-folders.ts";
import { ParcelPost } from "./parcel-post.ts";
import { untilTaken } from "./until-taken.ts";

/** Between two looks for the runner's wishes, and between two signs of life. */
const lookMs = 5_000;

class Refusal extends Error {
  readonly fault: "operator" | "machine" | "parcel";

  constructor(fault: "operator" | "machine" | "parcel", message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Until its program runs, a signal ends the job; then it is passed on. */
const ended = new AbortController();
let program: ChildProcess | undefined;
for (const signal of ["SIGTERM", "SIGUSR2"] as const)
  process.on(signal, () => (program ? program.kill(signal) : ended.abort()));

async function main(letter: ParcelJob): Promise<void> {
  const { cache, job, folder } = letter;
  const request = letter.request as unknown as ExecutionRequest;
  const { SLURM_JOB_ID: id = "", SLURMD_NODENAME: node = hostname() } = process.env;
  const address = { url: new URL(cache.url), token: cache.token ?? undefined };
  const client = () => new RemoteClient(address, { concurrency: 4, limits: remoteLimits });
  const clients = { parcels: client(), news: client() };
  const post = new ParcelPost({
    ...{ clients, key: Buffer.from(letter.key, "hex"), signal: ended.signal },
    scratch: join(folder, "parcels"),
  });
  const attempt = letter.attempt && new AttemptOnNode({ request, post, signal: ended.signal });
  const relay = attempt && { relay: attempt.socket };
  const claim: SlurmClaim = { kind: "begun", formatVersion: 1, id, host: hostname(), node, ...relay };
  let own: Awaited<ReturnType<typeof claimFolders>>;
  let news: NodeNews | undefined;
  try {
    if (await isTaken(letter, { post, id })) return; // before anything of another job here is touched
    own = await claimFolders({ folder, work: request.work });
    if (!own)
      throw new Refusal(
        "operator",
        `the node sees ${folder} of the runner, so it shares the disk: remove \`files: remote-cache\` from the profile's \`slurm:\``,
      );
    await untilTaken(
      () => post.put(job, "node", { kind: "lives", formatVersion: 1, claim, beat: 0 } satisfies NodeNews),
      ended,
    );
    news = await carriedOut(letter, { post, claim, request, attempt });
  } catch (error) {
    if (ended.signal.aborted) return;
    if (program) await attempt?.leave(own, error as Error);
    const why = (error as Error).message;
    console.error(`mlrb: ${why}`);
    news = { kind: "refused", formatVersion: 1, claim, why, fault: faultOf(error) };
  } finally {
    if (news)
      await untilTaken(() => post.put(job, "node", news!), ended).catch(async (error: Error) => {
        if (program) await attempt?.leave(own, error);
        throw error;
      });
    own?.remove();
    attempt?.close();
    clients.parcels.close();
    clients.news.close();
  }
  process.exitCode = news.kind === "done" && news.done.result.kind === "succeeded" ? 0 : 1; // for squeue's readers
}

/** Whether the runner has given the job up, or another job of the same submission has begun. */
async function isTaken({ job }: ParcelJob, { post, id }: { post: ParcelPost; id: string }): Promise<boolean> {
  const wish = await untilTaken(() => post.get(job, "runner", runnerNews), ended);
  if (wish?.kind === "given-up") return true;
  const earlier = await untilTaken(() => post.get(job, "node", nodeNews), ended);
  return earlier?.claim.kind === "begun" && earlier.claim.id !== id;
}

function faultOf(error: unknown): Refusal["fault"] {
  if (error instanceof Refusal) return error.fault;
  if (!(error instanceof RemoteTrouble)) return "machine";
  if (error.kind === "wrong-bytes" || error.kind === "missing") return "parcel";
  return error.kind === "refused" || error.kind === "full" ? "operator" : "machine";
}

type Carrying = {
  post: ParcelPost;
  claim: SlurmClaim;
  request: ExecutionRequest;
  attempt: AttemptOnNode | undefined;
};

async function carriedOut(letter: ParcelJob, { post, claim, request, attempt }: Carrying): Promise<NodeNews> {
  const { work, inputs } = letter;
  const { environment } = request;
  checkSources(request, "differs from the runner's: bring both clones to the same commit (git status)");
  if (environment && !environmentReady(environment.path))
    throw new Refusal(
      "operator",
      `the node lacks the environment ${environment.path}: make it there with \`pipeline run PIPELINE --only environment\` (docs/cluster.md)`,
    );
  await untilTaken(() => post.fetch(work, request.work), ended);
  const inside = join(request.work, "in");
  for (const parcel of Object.values(inputs)) await untilTaken(() => post.fetch(parcel, inside), ended);
  for (const [name, digest] of Object.entries(request.booked?.content?.inputs ?? {}))
    if (name in inputs && artifactDigest(join(inside, name)) !== digest)
      throw new Refusal("parcel", `the input ${name} is not the runner's after its way to the node`);
  await attempt?.restore(letter.attempt!).catch((error: unknown) => {
    throw error instanceof RemoteTrouble ? new Refusal("operator", lostCheckpoint(error)) : error;
  });
  const done = await programEnd(letter, { post, claim, request, attempt });
  checkSources(request, "was changed while the stage ran");
  for (const entry of slurmOutputs) standIn(join(request.work, entry));
  if (attempt) return { kind: "done", formatVersion: 1, claim, done, work: await attempt.finish(done) };
  const names = [...slurmOutputs, "log"].filter((name) => existsSync(join(request.work, name)));
  const back = await untilTaken(() => post.send(request.work, names), ended);
  return { kind: "done", formatVersion: 1, claim, done, work: back };
}

/** Runs the program of every Slurm job, whose files are here. */
async function programEnd(
  letter: ParcelJob,
  { post, claim, request, attempt }: Carrying,
): Promise<SlurmDone> {
  const { job, folder, program: carriesOut } = letter;
  const { turnMs } = request;
  const turn = turnMs === undefined ? {} : { turnMs: Math.max(0, turnMs - performance.now()) };
  writeJson(join(folder, "request.json"), { ...request, ...turn });
  writeJson(join(folder, "job.json"), job);
  ended.signal.throwIfAborted();
  const child = spawn(process.execPath, [...nodeFlags, carriesOut, folder], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  program = child;
  attempt?.start(() => child.kill("SIGUSR2"));
  const exit = once(child, "exit");
  const passing = new AbortController();
  const passes = pass(letter, { post, claim, signal: passing.signal });
  await exit;
  passing.abort();
  await passes;
  const file = join(folder, "done.json");
  const done = readFormat(slurmDone, existsSync(file) ? readFileSync(file, "utf8") : "");
  if (done.kind !== "ok") throw new Refusal("machine", "the job's program ended without a result");
  return done.value;
}

function lostCheckpoint({ kind, message }: RemoteTrouble): string {
  const isGone = kind === "missing" || kind === "wrong-bytes";
  return isGone
    ? `the remote cache does not have the attempt's last two checkpoints as they were sent (${message}): bring its files back, e.g. from a backup, and run again`
    : `the attempt's last checkpoints cannot be fetched: ${message}`;
}

function checkSources({ root, booked }: ExecutionRequest, problem: string): void {
  for (const [path, digest] of Object.entries(booked?.content?.sources ?? {}))
    if (!existsSync(join(root, path)) || hashFile(join(root, path)) !== digest)
      throw new Refusal("operator", `${join(root, path)} on the node ${problem}`);
}

/** Puts a pipe in the place of each socket, which no archive holds: the runner refuses both in an output. */
function standIn(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) for (const name of readdirSync(path)) standIn(join(path, name));
  if (!stats?.isSocket()) return;
  rmSync(path);
  spawnSync("mkfifo", ["--", path]);
}

/** Signs of life to the runner, and its wishes from it, until `signal`. A server that is away is no end. */
async function pass(
  { job, folder }: ParcelJob,
  { post, claim, signal }: { post: ParcelPost; claim: SlurmClaim; signal: AbortSignal },
): Promise<void> {
  for (let beat = 1; !signal.aborted; beat++) {
    try {
      const wish = await post.get(job, "runner", runnerNews);
      const end = { formatVersion: 1, signal: "USR2" };
      if (wish) writeJson(join(folder, "end.json"), wish.kind === "end" ? wish.end : end);
      if (!signal.aborted)
        await post.put(job, "node", { kind: "lives", formatVersion: 1, claim, beat } satisfies NodeNews);
    } catch (error) {
      if (!(error instanceof RemoteTrouble)) throw error;
    }
    await sleep(lookMs, undefined, { signal }).catch(() => {});
  }
}

const letter = mustFollow(parcelJob, JSON.parse(await text(process.stdin)), "the job's letter");
await main(letter);
