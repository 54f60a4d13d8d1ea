// The class of the GPUs that an attempt held, from the facts in its record.
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { cooperativeCap } from "@mlrb/formats/report/hardware";

/** `NVIDIA A100-SXM4-80GB`, `2 × NVIDIA A100-SXM4-80GB (cooperative cap of 40 GB)`; undefined without GPUs. */
export function recordedGpus({ ran }: Pick<AttemptRecord, "ran">): string | undefined {
  const models = [...(ran.where?.gpus ?? "").matchAll(/(.+?) \((?:GPU|MIG)-[^)]*\)(?:, |$)/g)].map(
    ([, model]) => model!,
  );
  const counts = Map.groupBy(models.sort(), (model) => model);
  const texts = [...counts].map(([model, { length }]) => (length === 1 ? model : `${length} × ${model}`));
  const cap = Number(ran.where?.gpuMemoryBytes);
  return texts.length === 0
    ? undefined
    : `${texts.join(", ")}${cap > 0 ? ` (${cooperativeCap} ${cap / 1e9} GB)` : ""}`;
}
