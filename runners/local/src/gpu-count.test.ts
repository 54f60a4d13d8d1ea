import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gpuCount, gpuNames, namesIn } from "./gpu-count.ts";

const two = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-6a1b0f6e-0000-1111-2222-333344445555)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-7a1b0f6e-0000-1111-2222-333344445555)
`;

/** An environment in which the only nvidia-smi, if any, is this shell script. */
function host(t: TestContext, script?: string): { env: NodeJS.ProcessEnv; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-gpus-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  if (script !== undefined) {
    writeFileSync(join(folder, "nvidia-smi"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, "nvidia-smi"), 0o755);
  }
  return { env: { PATH: folder }, folder };
}

const wanting = (...gpus: number[]) => gpus.map((one) => ({ execution: { resources: { gpus: one } } }));

test("as many GPUs as a fake nvidia-smi lists are here, under the names it gives", (t) => {
  const { env } = host(t, `[ "$*" = -L ] && printf '%s' '${two}'`);
  assert.deepEqual(gpuNames(env), ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"]);
  assert.equal(gpuCount(wanting(0, 1), env), 2);
});

test("without nvidia-smi there is no GPU, and none with a fake one that fails or lists nothing", (t) => {
  assert.deepEqual(gpuNames(host(t).env), []);
  const failing = `echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."; exit 9`;
  assert.deepEqual(gpuNames(host(t, failing).env), []);
  assert.deepEqual(gpuNames(host(t, "echo No devices found.").env), []);
  assert.equal(gpuCount(wanting(8), host(t, `printf '%s' '${two}'; exit 1`).env), 0);
});

test("a fake nvidia-smi is asked once, and not where nothing wants a GPU", (t) => {
  const { env, folder } = host(t);
  const script = `#!/bin/sh\necho asked >> '${join(folder, "asked")}'\nprintf '%s' '${two}'\n`;
  writeFileSync(join(folder, "nvidia-smi"), script, { mode: 0o755 });
  assert.equal(gpuCount(wanting(0, 0), env), 0);
  assert.equal(gpuCount([], env), 0);
  assert.ok(!existsSync(join(folder, "asked")));
  assert.equal(gpuCount(wanting(2), env), 2);
  rmSync(join(folder, "nvidia-smi")); // a second question would find nobody
  assert.equal(gpuCount(wanting(1), env), 2);
});

test("a GPU that is divided is one, and one without an identity is one too", () => {
  const divided = `GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)
  MIG 3g.20gb     Device  0: (UUID: MIG-2)
  MIG 3g.20gb     Device  1: (UUID: MIG-3)
`;
  assert.deepEqual(namesIn(divided), ["NVIDIA A100-SXM4-40GB"]);
  assert.deepEqual(namesIn("GPU 0: Tesla T4\r\nGPU 10: Tesla (new) T4 (UUID: GPU-9)\r\n"), [
    "Tesla T4",
    "Tesla (new) T4",
  ]);
});
