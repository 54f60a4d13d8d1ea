// The device files of fake GPUs: a double of the driver's folder and of nvidia-smi's text. Nothing here tests a
// driver.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { type GpuDriver, gpuDevices } from "./gpu-devices.ts";

const shared = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/dxg"];

/** Two GPUs whose device files are numbered against the order of their PCI addresses; the second has two slices. */
const listed = `GPU 0: Fake A100 (UUID: GPU-aa)
GPU 1: Fake A100 (UUID: GPU-bb)
  MIG 3g.40gb     Device  0: (UUID: MIG-11)
  MIG 1g.10gb     Device  1: (UUID: MIG-22)
`;
const described = `
==============NVSMI LOG==============

Attached GPUs                             : 2
GPU 00000000:07:00.0
    Product Name                          : Fake A100
    MIG Devices                           : None
    GPU UUID                              : GPU-aa
    Minor Number                          : 1

GPU 00000000:0F:00.0
    MIG Mode
        Current                           : Enabled
    MIG Device
        Index                             : 0
        GPU Instance ID                   : 2
        Compute Instance ID               : 0
        Device Attributes
            Shared
    MIG Device
        Index                             : 1
        GPU Instance ID                   : 9
        Compute Instance ID               : 0
    GPU UUID                              : GPU-bb
    Minor Number                          : 0
`;

/** `known`: UUIDs by number, as the driver's folder says them; a GPU that nothing has opened has only question marks. */
function driver(t: TestContext, known: Record<number, string>, texts = { listed, described }): GpuDriver {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-driver-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [minor, uuid] of Object.entries(known))
    write(
      `gpus/0000:0${minor}:00.0/information`,
      `Model: \t\t Fake\nGPU UUID: \t ${uuid}\nDevice Minor: \t ${minor}\n`,
    );
  const caps = { "gi2/access": 21, "gi2/ci0/access": 22, "gi9/access": 84, "gi9/ci0/access": 85 };
  for (const [name, minor] of Object.entries(caps))
    write(`capabilities/gpu0/mig/${name}`, `DeviceFileMinor: ${minor}\nDeviceFileMode: 292\n`);
  return { folder, ask: (...args) => (args[0] === "-L" ? texts.listed : texts.described) };
}

const both = { 0: "GPU-bb", 1: "GPU-aa" };
const whole = (uuid: string, index = 0) => ({ index, uuid, slice: false });
const slice = (uuid: string) => ({ index: 1, uuid, slice: true });

test("no device file is shown where no GPU is held", (t) => {
  assert.deepEqual(gpuDevices([], driver(t, both)), { files: [] });
});

test("a GPU's device file has the number that the driver's folder says, which is not its index", (t) => {
  assert.deepEqual(gpuDevices([whole("GPU-aa")], driver(t, both)), { files: [...shared, "/dev/nvidia1"] });
});

test("a GPU that nothing has opened has the number that nvidia-smi says", (t) => {
  const unopened = driver(t, { 0: "GPU-????????", 1: "GPU-????????" });
  assert.deepEqual(gpuDevices([whole("GPU-aa")], unopened), { files: [...shared, "/dev/nvidia1"] });
});

test("a slice has its GPU's device file and the files of its own two instances", (t) => {
  assert.deepEqual(gpuDevices([slice("MIG-22")], driver(t, both)), {
    files: [...shared, "/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap84", "/dev/nvidia-caps/nvidia-cap85"],
  });
});

test("a slice named by its GPU and instances, as drivers before 470 do, has the same files", (t) => {
  assert.deepEqual(gpuDevices([slice("MIG-GPU-bb/2/0")], driver(t, both)), {
    files: [...shared, "/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"],
  });
});

test("several GPUs have their files and the shared ones once", (t) => {
  assert.deepEqual(gpuDevices([whole("GPU-aa", 0), whole("GPU-bb", 1)], driver(t, both)), {
    files: [...shared, "/dev/nvidia1", "/dev/nvidia0"],
  });
});

test("no file is guessed for a GPU or a slice that the driver does not describe", (t) => {
  const silent = { listed: "", described: "" };
  for (const [gpu, texts] of [
    [whole("GPU-cc"), undefined],
    [slice("MIG-33"), undefined],
    [slice("MIG-22"), { ...silent, listed }],
    [slice("MIG-22"), { ...silent, described }],
    [slice("MIG-GPU-bb/3/0"), undefined],
  ] as const) {
    const found = gpuDevices([gpu], driver(t, both, texts));
    assert.ok("trouble" in found, JSON.stringify([gpu, found]));
    assert.match(found.trouble, new RegExp(`the device files of GPU ${gpu.uuid} are unknown: .*docker`));
  }
});

test("without the driver's folder, as in WSL, the files are named by index", () => {
  const wsl = { folder: "/nonexistent", ask: () => "" };
  assert.deepEqual(gpuDevices([whole("GPU-aa", 3)], wsl), { files: [...shared, "/dev/nvidia3"] });
});
