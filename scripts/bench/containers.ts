// The overhead of a stage in a container over the engine itself: the executor's container alternates with the same
// container that is created, started, awaited and removed by hand. Also the cost of a sandbox of the same engine.
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { containerEngine } from "@mlrb/docker/container-engine";
import { DockerExecutor } from "@mlrb/docker/docker-executor";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { ensureImage } from "@mlrb/docker/ensure-image";
import { stageCreation } from "@mlrb/docker/stage-flags";
import { testEngine } from "../../tests/support/machines/docker-engine.ts";
import { type Bench, median, medianSeconds, seconds } from "./tools.ts";

const rounds = 15;
const root = join(import.meta.dirname, "../..");

/** Prints the reason and measures nothing where no engine answers and none can be started. */
export async function benchContainers(bench: Bench): Promise<void> {
  const there = await containerEngine();
  const own = "trouble" in there ? await testEngine() : undefined;
  if (own && "skip" in own) {
    process.stderr.write(`containers: not measured: ${own.skip}\n`);
    return;
  }
  const env = own?.env ?? process.env;
  try {
    await benchStage(env, bench);
    if (process.getuid?.() === 0) await benchWalls(env, bench); // only root can give the folder to another user
  } finally {
    await own?.stop();
  }
}

async function benchStage(env: NodeJS.ProcessEnv, { work, row }: Bench): Promise<void> {
  const engine = await containerEngine(env);
  if ("trouble" in engine) throw new Error(engine.trouble.detail);
  const image = await ensureImage(engine, undefined, { root });
  if (!image.ok) throw new Error(image.detail);
  const state = join(work, ".mlrb");
  const executor = new DockerExecutor({
    root,
    state,
    run: "bench",
    isLive: () => true,
    take: () => true,
    env,
  });
  const byHand: number[] = [];
  const ours: number[] = [];
  await executor.start(requestIn(join(work, "container-warm"))).ended;
  for (let round = 0; round < rounds; round++) {
    const request = requestIn(join(work, `container-${round}`));
    const creation = stageCreation(engine, request, { image, labels: { "mlrb.run": "bench-by-hand" } });
    const docker = (...args: string[]) => {
      const settings = { env: { ...env, ...creation.env }, encoding: "utf8" } as const;
      const { status, stdout, stderr } = spawnSync(engine.program, args, settings);
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    };
    const create = () => {
      const id = docker(...creation.args);
      for (const command of ["start", "wait", "rm"]) docker(command, id);
    };
    byHand.push(await seconds(create));
    const execute = async () => {
      const result = await executor.start(request).ended;
      if (result.kind !== "succeeded") throw new Error(JSON.stringify(result));
    };
    ours.push(await seconds(execute));
  }
  await executor.close();
  const [all, engineOnly] = [ours, byHand].map((times) => `${(1000 * median(times)).toFixed(0)} ms`);
  row("a stage in a container, beyond the engine's own", median(ours.map((one, at) => one - byHand[at]!)), {
    against: `50 ms: ${all} against ${engineOnly} of create, start, wait, rm`,
    other: 0.05,
    target: 1,
  });
}

async function benchWalls(env: NodeJS.ProcessEnv, { work, row }: Bench): Promise<void> {
  const folder = join(work, "container-sandbox");
  mkdirSync(folder);
  chownSync(folder, 60_700, 60_700);
  const limits = { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 28, cpus: 1 };
  const wanted = { readOnly: [], reads: [], limits, gpus: [], token: "bench" };
  const walls = await dockerWalls({ ...wanted, folder, seenAs: "/attempt", network: "none" }, { env, root });
  const program = { argv: ["true"], cwd: "/attempt", env: { PATH: "/usr/bin:/bin" }, onOutput() {} };
  const first = await seconds(() => walls.exec(program));
  const next = await medianSeconds(5, () => walls.exec(program));
  await walls.close();
  row("a sandbox in a container, with its first program", first);
  row("another program in it", next);
}

function requestIn(work: string): ExecutionRequest {
  mkdirSync(work, { recursive: true });
  return {
    id: "bench",
    key: "bench",
    token: "bench",
    run: { kind: "command", command: "true" },
    root,
    work,
    env: { PATH: "/usr/bin:/bin" },
    inputs: {},
    outputs: {},
    log: join(work, "log"),
    limits: {},
    network: "none",
    reads: [],
    writes: [],
    cpus: 1,
    gpus: [],
  };
}
