import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuFacts } from "@mlrb/core/ports/gpu";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { recordedGpus } from "./recorded-gpus.ts";

const gpusOf = (where?: Record<string, string>) =>
  recordedGpus({ ran: where === undefined ? {} : { where } } as unknown as AttemptRecord);

function held(...devices: [model: string, uuid: string][]): string | undefined {
  const gpus = devices.map(([model, uuid], index) => ({
    ...{ index, model, uuid, memoryBytes: 0, driver: "550.54", slice: uuid.startsWith("MIG") },
  }));
  return gpusOf(gpuFacts(gpus));
}

test("the class of held GPUs has their models and counts, and no device's own number", () => {
  assert.equal(held(["NVIDIA A100-SXM4-80GB", "GPU-8f2c"]), "NVIDIA A100-SXM4-80GB");
  assert.equal(
    held(["NVIDIA H100 (PCIe)", "GPU-1"], ["NVIDIA A100", "GPU-2"], ["NVIDIA H100 (PCIe)", "GPU-3"]),
    "NVIDIA A100, 2 × NVIDIA H100 (PCIe)",
  );
  assert.equal(held(["NVIDIA A100-SXM4-80GB MIG 1g.10gb", "MIG-5"]), "NVIDIA A100-SXM4-80GB MIG 1g.10gb");
});

test("an attempt without GPUs has no class", () => {
  assert.equal(held(), undefined);
  assert.equal(gpusOf(), undefined);
  assert.equal(gpusOf({ sandbox: "docker" }), undefined);
});
