// The class of the GPUs that an attempt held, from the facts in its record.
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";

/** `NVIDIA A100-SXM4-80GB`, `2 × NVIDIA A100-SXM4-80GB`; undefined without GPUs. */
export function recordedGpus({ ran }: Pick<AttemptRecord, "ran">): string | undefined {
  const models = [...(ran.where?.gpus ?? "").matchAll(/(.+?) \((?:GPU|MIG)-[^)]*\)(?:, |$)/g)].map(
    ([, model]) => model!,
  );
  const counts = Map.groupBy(models.sort(), (model) => model);
  const texts = [...counts].map(([model, { length }]) => (length === 1 ? model : `${length} × ${model}`));
  return texts.length === 0 ? undefined : texts.join(", ");
}
