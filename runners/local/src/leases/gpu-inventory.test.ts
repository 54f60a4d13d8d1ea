import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type FakeGpu, fakeGpus, fakeNvidia } from "../../../../tests/support/machines/fake-nvidia.ts";
import { gpuInventory, gpuNames, gpusFor, gpusHere } from "./gpu-inventory.ts";

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-gpus-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An environment whose only nvidia-smi is this shell script. */
function host(t: TestContext, script: string): NodeJS.ProcessEnv {
  const folder = newFolder(t);
  writeFileSync(join(folder, "nvidia-smi"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "nvidia-smi"), 0o755);
  return { PATH: `${folder}:/usr/bin:/bin` };
}

function fake(t: TestContext, gpus?: FakeGpu[]) {
  const made = fakeNvidia(newFolder(t), gpus);
  return { ...made, env: { PATH: `${made.bin}:/usr/bin:/bin` } };
}

const wanting = (...gpus: number[]) => gpus.map((one) => ({ execution: { resources: { gpus: one } } }));
const uuidsIn = (env: NodeJS.ProcessEnv) => gpuInventory(env).gpus.map(({ uuid }) => uuid);

test("the inventory lists a fake nvidia-smi's GPUs with index, UUID, model, memory and driver", (t) => {
  const { env, uuids } = fake(t, fakeGpus(2));
  assert.deepEqual(gpuInventory(env), {
    gpus: [0, 1].map((index) => ({
      index,
      uuid: uuids[index],
      model: "Fake A100-SXM4-80GB",
      memoryBytes: 80 * 2 ** 30,
      driver: "550.54.15",
      slice: false,
    })),
  });
  assert.deepEqual(gpuNames(env), ["Fake A100-SXM4-80GB", "Fake A100-SXM4-80GB"]);
});

test("a fake nvidia-smi is queried once, and not at all if no instance wants a GPU", (t) => {
  const { env, asked } = fake(t);
  assert.equal(gpusHere(wanting(0, 0), env).gpus.length, 0);
  assert.equal(gpusHere([], env).gpus.length, 0);
  assert.deepEqual(asked(), []);
  assert.equal(gpusHere(wanting(0, 1), env).gpus.length, 4);
  assert.equal(gpusHere(wanting(2), env).gpus.length, 4);
  assert.equal(asked().length, 2, "the list and the table, once");
});

test("without nvidia-smi there is no GPU and no trouble; a failing nvidia-smi is reported", (t) => {
  assert.deepEqual(gpuInventory({ PATH: newFolder(t) }), { gpus: [] });
  const failing = host(
    t,
    `echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."; exit 9`,
  );
  assert.deepEqual(gpuInventory(failing), {
    gpus: [],
    trouble: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
  });
  assert.deepEqual(gpuInventory(host(t, "echo No devices found.")), {
    gpus: [],
    trouble: "No devices found.",
  });
  assert.deepEqual(gpuInventory(host(t, "exit 0")), { gpus: [], trouble: "it lists none" });
  assert.deepEqual(gpuInventory(host(t, "exit 3")), { gpus: [], trouble: "it ended with 3" });
  const listsAndFails = host(t, "echo 'GPU 0: A (UUID: GPU-1)'; exit 1");
  assert.deepEqual(uuidsIn(listsAndFails), [], "what a failing driver lists is not believed");
});

test("a fake driver that has lost one GPU still lists the others, and its message is reported", (t) => {
  const lost = "Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost. Reboot the system.";
  const { gpus, trouble } = gpuInventory(host(t, `echo 'GPU 0: A (UUID: GPU-1)'; echo '${lost}'; exit 15`));
  assert.deepEqual(
    gpus.map(({ uuid }) => uuid),
    ["GPU-1"],
  );
  assert.equal(trouble, lost);
});

test("a value that a fake driver omits or garbles is left out and never guessed", (t) => {
  const list = "printf 'GPU 0: A (UUID: GPU-1)\\nGPU 1: Odd (new) B (UUID: GPU-2)\\nGPU 2: no identity\\n'";
  const answers = [
    "echo 'Field \"driver_version\" is not a valid field to query.'; exit 2",
    "printf 'GPU-1, [N/A], [N/A]\\nGPU-2, [Unknown Error], \\n'",
    "printf '\\033[2Jgarbage\\n,,,\\n\\0\\n'",
    "printf 'GPU-1\\n'",
  ];
  for (const answer of answers) {
    const { gpus, trouble } = gpuInventory(host(t, `case $1 in -L) ${list} ;; *) ${answer} ;; esac`));
    assert.deepEqual(
      gpus.map(({ uuid, model, memoryBytes, driver }) => [uuid, model, memoryBytes, driver]),
      [
        ["GPU-1", "A", 0, ""],
        ["GPU-2", "Odd (new) B", 0, ""],
      ],
    );
    assert.equal(trouble, "GPU 2: no identity");
  }
});

const divided = fakeGpus(2).map((gpu, index) =>
  index > 0
    ? gpu
    : {
        ...gpu,
        mig: "Enabled",
        slices: [
          { profile: "3g.40gb", uuid: "MIG-a" },
          { profile: "1g.10gb+me", uuid: "MIG-b" },
        ],
      },
);

test("for a divided fake GPU the slices are listed and the whole GPU is not", (t) => {
  const { env, uuids } = fake(t, divided);
  const { gpus } = gpuInventory(env);
  assert.deepEqual(
    gpus.map(({ uuid, model, memoryBytes, slice }) => [uuid, model, memoryBytes / 2 ** 30, slice]),
    [
      ["MIG-a", "Fake A100-SXM4-80GB MIG 3g.40gb", 40, true],
      ["MIG-b", "Fake A100-SXM4-80GB MIG 1g.10gb+me", 10, true],
      [uuids[1], "Fake A100-SXM4-80GB", 80, false],
    ],
  );
  assert.equal(gpusFor(1, gpus).length, 3);
  assert.deepEqual(
    gpusFor(2, gpus).map(({ uuid }) => uuid),
    [uuids[1]],
    "a process sees one slice at most",
  );
});

test("slices of an older fake driver, named by their GPU, are also slices", (t) => {
  const list = "printf 'GPU 0: A (UUID: GPU-1)\\n  MIG 1g.5gb Device 0: (UUID: MIG-GPU-1/7/0)\\n'";
  assert.deepEqual(uuidsIn(host(t, `case $1 in -L) ${list} ;; *) exit 2 ;; esac`)), ["MIG-GPU-1/7/0"]);
});

test("CUDA_VISIBLE_DEVICES allows devices by number, UUID or UUID prefix, up to the first missing one", (t) => {
  const { env, uuids } = fake(t);
  const seen = (visible: string) =>
    uuidsIn({ ...env, CUDA_VISIBLE_DEVICES: visible }).map((one) => uuids.indexOf(one));
  assert.deepEqual(seen("2,0"), [0, 2]);
  assert.deepEqual(seen(uuids[3]!), [3]);
  assert.deepEqual(seen("GPU-111"), [1]);
  assert.deepEqual(seen(" 1 , 1 "), [1]);
  assert.deepEqual(seen("1,-1,2"), [1]);
  assert.deepEqual(seen("1,7,2"), [1]);
  for (const none of ["", "-1", "none", "GPU", "0x1"]) assert.deepEqual(seen(none), []);
  assert.match(
    gpuInventory({ ...env, CUDA_VISIBLE_DEVICES: "" }).trouble!,
    /^CUDA_VISIBLE_DEVICES= names none/,
  );
  assert.equal(gpuNames({ ...env, CUDA_VISIBLE_DEVICES: "" }).length, 4, "the host's facts do not change");
  const { env: mig } = fake(t, divided);
  assert.deepEqual(uuidsIn({ ...mig, CUDA_VISIBLE_DEVICES: "0" }), ["MIG-a", "MIG-b"]);
  assert.deepEqual(uuidsIn({ ...mig, CUDA_VISIBLE_DEVICES: "MIG-b" }), ["MIG-b"]);
});
