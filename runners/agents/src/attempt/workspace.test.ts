import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { agentEnvironment, deadlineWriter, writeDeadline } from "./workspace.ts";

/** A sandbox, and the paths of a folder next to it that holds `scratch`. */
async function openSandbox(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "deadline-"));
  t.after(() => removeFolder(folder));
  const at = (name: string) => join(folder, name);
  mkdirSync(at("scratch"));
  const sandbox = await plainSandbox(at("work"));
  t.after(() => sandbox.close());
  return { sandbox, at };
}

test("torch's allocator gets a cap on GPU memory as a share of the smallest device, and without a cap nothing", async (t) => {
  const { sandbox } = await openSandbox(t);
  const gpu = (memoryBytes: number) => ({
    ...{ index: 0, uuid: "GPU-1", model: "H100", driver: "", slice: false },
    memoryBytes,
  });
  const seen = (gpus: number[], gpuMemoryBytes?: number) =>
    agentEnvironment(
      sandbox,
      { gpus: gpus.map(gpu), ...(gpuMemoryBytes && { gpuMemoryBytes }) } as unknown as AttemptRequest,
      0,
    );
  assert.equal(seen([8e10], 4e10).PYTORCH_CUDA_ALLOC_CONF, "per_process_memory_fraction:0.5");
  assert.equal(seen([9e10, 8.55e10], 4e10).PYTORCH_CUDA_ALLOC_CONF, "per_process_memory_fraction:0.4678");
  assert.equal(seen([2e10], 4e10).PYTORCH_CUDA_ALLOC_CONF, "per_process_memory_fraction:1");
  assert.equal(seen([8e10], 4e10).MLRB_GPU_MEMORY_BYTES, "40000000000");
  assert.deepEqual(
    Object.keys(seen([8e10])).filter((name) => /ALLOC|MEMORY/.test(name)),
    [],
  );
  assert.throws(() => seen([8e10, 0], 4e10), /the driver does not report the memory of H100/);
  assert.throws(() => seen([], 4e10), /the attempt holds no GPU/);
});

test("writing the deadline changes nothing outside the sandbox, whatever the agent puts in its place", async (t) => {
  const { sandbox, at } = await openSandbox(t);
  mkdirSync(at("outside"));
  const workspace = sandbox.seenAs("workspace");
  const file = join(workspace, "deadline");
  const tell = () => writeDeadline(sandbox, Date.UTC(2026, 10, 23, 4, 15, 0, 700), at("scratch"));
  const written = "1795407300\n2026-11-23T04:15:00Z\n";
  await tell();
  assert.equal(readFileSync(file, "utf8"), written);

  const kept = at("outside/kept");
  writeFileSync(kept, "kept");
  rmSync(file);
  symlinkSync(kept, file);
  await tell();
  assert.equal(lstatSync(file).isSymbolicLink(), false);
  assert.deepEqual([readFileSync(kept, "utf8"), readFileSync(file, "utf8")], ["kept", written]);

  rmSync(file);
  symlinkSync(at("outside/new"), file);
  await tell();
  assert.equal(existsSync(at("outside/new")), false, "no file is made behind a dangling link");

  rmSync(file);
  mkdirSync(file);
  await assert.rejects(tell(), /is a folder/, "which the attempt outlives");
  assert.deepEqual(readdirSync(file), []);

  rmSync(workspace, { recursive: true });
  symlinkSync(at("outside"), workspace);
  await assert.rejects(tell());
  assert.deepEqual(readdirSync(at("outside")), ["kept"]);
});

test("a program that reads the deadline while it moves gets a complete one", async (t) => {
  const { sandbox, at } = await openSandbox(t);
  const file = join(sandbox.seenAs("workspace"), "deadline");
  const tell = (seconds: number) => writeDeadline(sandbox, 1000 * seconds, at("scratch"));
  await tell(1_795_407_300);
  let over = false;
  const found = new Set<number | string>();
  const reading = (async () => {
    for (; !over; await new Promise(setImmediate))
      found.add(existsSync(file) ? readFileSync(file, "utf8").length : "none");
  })();
  for (let seconds = 0; seconds < 100; seconds++) await tell(1_795_407_300 + seconds);
  over = true;
  await reading;
  assert.deepEqual([...found], ["1795407300\n2026-11-23T04:15:00Z\n".length]);
});

test("of deadlines written concurrently the last one stays", async (t) => {
  const { sandbox, at } = await openSandbox(t);
  const tell = deadlineWriter(sandbox, at("scratch"));
  for (let round = 1; round <= 20; round++) {
    await Promise.all([1, 2, 3].map((one) => tell(1000 * (10 * round + one))));
    const written = readFileSync(join(sandbox.seenAs("workspace"), "deadline"), "utf8");
    assert.equal(Number(written.split("\n")[0]), 10 * round + 3);
  }
});
