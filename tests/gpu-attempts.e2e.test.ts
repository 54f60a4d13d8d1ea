// Agents that hold GPUs, in containers of a real engine. The GPUs are fake: stubs of the driver's nvidia-smi and
// of NVIDIA's container hook show who got which device. Nothing here tests CUDA.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab, leftovers } from "./support/lab.ts";
import { type TestEngine, testEngine } from "./support/machines/docker-engine.ts";
import { fakeGpus, fakeNvidia } from "./support/machines/fake-nvidia.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const gpus = fakeGpus(2);
let engine: TestEngine;
let why: string | false = false;
before(async () => {
  const started = await testEngine({ gpus: gpus.map(({ uuid }) => uuid) });
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(async () => {
  await engine?.stop();
  repository.remove();
});

/** Four attempts that each hold a GPU and print what they know of it, and a score of each on this host. */
function define(at: Lab): void {
  defineAttempts(at, {
    script: 'sleep 1; echo "$MLRB_GPUS $CUDA_VISIBLE_DEVICES" > "$MLRB_SUBMISSION/told"',
    agent: "computes",
    seeds: [1, 2, 3, 4],
    attempt: { executor: "docker", resources: { gpus: 1, cpus: 0.5, memory: "128MiB" } },
    stages: {
      score: {
        each: ["task", "agent", "seed"],
        needs: ["attempt.submission"],
        opens: "untrusted",
        command: "cp {inputs.submission}/told {outputs.score}",
        gives: { score: "file" },
      },
    },
  });
}

test("four attempts in containers on two fake GPUs each get one by name, none is shared, and scores run here", {
  timeout: 180_000,
}, async (t) => {
  if (why !== false) return t.skip(why);
  const at = lab(t, repository);
  define(at);
  const nvidia = fakeNvidia(join(at.outside, "nvidia"), gpus);
  const env = {
    PATH: `${nvidia.bin}${delimiter}${process.env.PATH}`,
    DOCKER_HOST: engine.env.DOCKER_HOST!,
    MLRB_CONTAINER_ENGINE: "docker",
    MLRB_GPU_LEASES: join(at.outside, "leases"),
  };
  const args = ["run", at.name, "--json", "--root", at.root];
  const refused = await at.pipeline(args, { env });
  assert.equal(refused.code, 2, "GPU hours want a yes");
  const said = await at.pipeline([...args, "--yes"], { env });
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(leftovers(at), []);

  const records = recordsIn(at.root).map(({ digest, record }) => ({
    digest,
    ran: record.ran as { startedAt: string; durationMs: number; where: Record<string, string> },
    cost: record.cost as { gpuHours: number },
  }));
  assert.equal(records.length, 4);
  for (const { digest, ran, cost } of records) {
    assert.match(ran.where.gpus!, /^Fake A100-SXM4-80GB \(GPU-[01]{8}-/);
    assert.equal(ran.where.sandbox, "docker");
    assert.match(ran.where.image!, /^sha256:/);
    assert.ok(cost.gpuHours > 0);
    const shown = readFileSync(join(at.root, ".mlrb/attempts/records", digest, "submission/told"), "utf8");
    assert.equal(shown, "1 \n", "the only device inside is the one to use");
  }
  // the hook was asked for one device per container, by its name
  const given = engine.gpusGiven();
  assert.equal(given.length, 4);
  for (const one of given)
    assert.ok(
      gpus.some(({ uuid }) => uuid === one),
      one,
    );
  // attempts with the same device ran one after the other
  for (const { uuid } of gpus) {
    const spans = records
      .filter(({ ran }) => ran.where.gpus!.includes(uuid))
      .map(({ ran }) => [Date.parse(ran.startedAt), Date.parse(ran.startedAt) + ran.durationMs] as const)
      .sort((a, b) => a[0] - b[0]);
    for (const [index, span] of spans.slice(1).entries()) assert.ok(span[0] >= spans[index]![1] - 50, uuid);
  }
});
