// Labels of a stage's container. From them a later runner knows the stage and its run, and has everything to wait
// for the container in place of a dead runner.
import { hash } from "node:crypto";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { quiet } from "@mlrb/kit/processes/process-table";

/** What the labels keep of a stage's request. */
export type LabelledStage = Record<(typeof texts)[number], string> & Pick<ExecutionRequest, "limits">;

/** A short name of the state folder. */
export function stateLabel(state: string): string {
  return hash("sha256", state).slice(0, 16);
}

const texts = ["run", "stage", "key", "work", "log", "image"] as const;

export function stageLabels(
  { id, key, token, work, log, limits }: ExecutionRequest,
  { state, ...own }: { state: string; run: string; image: string },
): Record<string, string> {
  const held = Object.entries({ ...own, stage: id, key, token, work, log, limits: JSON.stringify(limits) });
  return {
    "mlrb.state": stateLabel(state),
    ...Object.fromEntries(held.map(([name, text]) => [`mlrb.${name}`, text])),
  };
}

export function readStageLabels(labels: Record<string, string>): LabelledStage {
  const held = texts.map((name) => [name, labels[`mlrb.${name}`] ?? ""]);
  const limits: LabelledStage["limits"] = quiet(() => JSON.parse(labels["mlrb.limits"]!)) ?? {};
  return { ...(Object.fromEntries(held) as Record<(typeof texts)[number], string>), limits };
}
