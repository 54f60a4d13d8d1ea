// What a stage in a container costs beyond the engine's own: the same container created, started, waited for and
// removed by hand, turn by turn with the executor's. And what a sandbox of the same engine costs.
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { containerEngine } from "@mlrb/docker/container-engine";
import { DockerExecutor } from "@mlrb/docker/docker-executor";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { ensureImage } from "@mlrb/docker/ensure-image";
import { stageCreation } from "@mlrb/docker/stage-flags";
import { testEngine } from "../tests/support/docker-engine.ts";
import { median, type TellRow } from "./bench-tools.ts";

const rounds = 15;

type Where = { work: string; row: TellRow };

/** Says why, and measures nothing, where no engine answers and none can be started. */
export async function benchContainers({ work, row }: Where): Promise<void> {
  const there = await containerEngine();
  const own = "trouble" in there ? await testEngine() : undefined;
  if (own && "skip" in own) {
    process.stderr.write(`containers: not measured: ${own.skip}\n`);
    return;
  }
  const env = own?.env ?? process.env;
  try {
    await measure(env, { work, row });
  } finally {
    await own?.stop();
  }
}

async function measure(env: NodeJS.ProcessEnv, { work, row }: Where): Promise<void> {
  const root = join(import.meta.dirname, "..");
  const engine = await containerEngine(env);
  if ("trouble" in engine) throw new Error(engine.trouble.detail);
  const image = await ensureImage(engine, undefined, { root });
  if (!image.ok) throw new Error(image.detail);
  const executor = new DockerExecutor({
    root,
    state: join(work, ".mlrb"),
    run: "bench",
    isLive: () => true,
    env,
  });
  const byHand: number[] = [];
  const ours: number[] = [];
  await executor.start(requestIn(join(work, "container-warm"), root)).ended;
  for (let round = 0; round < rounds; round++) {
    const request = requestIn(join(work, `container-${round}`), root);
    const creation = stageCreation(engine, request, { image, labels: { "mlrb.run": "bench-by-hand" } });
    const docker = (args: string[]) => {
      const { status, stdout, stderr } = spawnSync(engine.program, args, {
        env: { ...env, ...creation.env },
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    };
    let begin = performance.now();
    const id = docker(creation.args);
    docker(["start", id]);
    docker(["wait", id]);
    docker(["rm", id]);
    byHand.push(performance.now() - begin);
    begin = performance.now();
    const result = await executor.start(request).ended;
    ours.push(performance.now() - begin);
    if (result.kind !== "succeeded") throw new Error(JSON.stringify(result));
  }
  await executor.close();
  const over = median(ours.map((one, round) => one - byHand[round]!)) / 1000;
  row("a stage in a container, beyond the engine's own", over, {
    against: `50 ms: ${median(ours).toFixed(0)} ms against ${median(byHand).toFixed(0)} ms of create, start, wait, rm`,
    other: 0.05,
    target: 1,
  });
  if (process.getuid?.() !== 0) return; // its folder would have to belong to somebody
  const sandbox = join(work, "container-sandbox");
  mkdirSync(sandbox);
  chownSync(sandbox, 60_700, 60_700);
  const limits = { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 28, cpus: 1 };
  const walls = await dockerWalls(
    {
      folder: sandbox,
      seenAs: "/attempt",
      readOnly: [],
      reads: [],
      network: "none",
      limits,
      gpus: [],
      token: "bench",
    },
    { env, root },
  );
  const program = { argv: ["true"], cwd: "/attempt", env: { PATH: "/usr/bin:/bin" }, onOutput() {} };
  const begin = performance.now();
  await walls.exec(program);
  const first = performance.now() - begin;
  const more: number[] = [];
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    await walls.exec(program);
    more.push(performance.now() - start);
  }
  await walls.close();
  row("a sandbox in a container, with its first program", first / 1000);
  row("another program in it", median(more) / 1000);
}

function requestIn(work: string, root: string): ExecutionRequest {
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
