// Labels of a stage's container. From them a later runner knows the stage and its run, and has everything to wait
// for the container in place of a dead runner.
import { hash } from "node:crypto";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";

/** What the labels keep of a stage's request. */
export type LabelledStage = Record<(typeof texts)[number], string> & Pick<ExecutionRequest, "limits">;

/** A short name of the state folder. */
export function stateLabel(state: string): string {
  return hash("sha256", state).slice(0, 16);
}

const texts = ["run", "stage", "key", "work", "log", "image"] as const;
const numbers = { timeMs: "mlrb.time-ms", memoryBytes: "mlrb.memory-bytes" } as const;
const limitNames = ["timeMs", "memoryBytes"] as const;

export function stageLabels(
  { id, key, token, work, log, limits }: ExecutionRequest,
  { state, ...own }: { state: string; run: string; image: string },
): Record<string, string> {
  const held = Object.entries({ ...own, stage: id, key, token, work, log });
  const set = limitNames.filter((name) => limits[name] !== undefined);
  return {
    "mlrb.state": stateLabel(state),
    ...Object.fromEntries(held.map(([name, text]) => [`mlrb.${name}`, text])),
    ...Object.fromEntries(set.map((name) => [numbers[name], String(limits[name])])),
  };
}

export function readStageLabels(labels: Record<string, string>): LabelledStage {
  const held = texts.map((name) => [name, labels[`mlrb.${name}`] ?? ""]);
  const set = limitNames.filter((name) => labels[numbers[name]] !== undefined);
  const limits = Object.fromEntries(set.map((name) => [name, Number(labels[numbers[name]])]));
  return { ...(Object.fromEntries(held) as Record<(typeof texts)[number], string>), limits };
}
