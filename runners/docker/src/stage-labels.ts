// Labels of a stage's container. From them a later runner knows the stage and its run, and has everything to wait for
// the container in place of a dead runner.
import { hash } from "node:crypto";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";

/** What the labels keep of a stage's request. */
export type LabelledStage = {
  run: string;
  stage: string;
  key: string;
  work: string;
  log: string;
  limits: ExecutionRequest["limits"];
  image: string;
};

/** A short name of the state folder. */
export function stateLabel(state: string): string {
  return hash("sha256", state).slice(0, 16);
}

export function stageLabels(request: ExecutionRequest, own: { state: string; run: string; image: string }) {
  const { timeMs, memoryBytes } = request.limits;
  return {
    "mlrb.state": stateLabel(own.state),
    "mlrb.run": own.run,
    "mlrb.stage": request.id,
    "mlrb.key": request.key,
    "mlrb.token": request.token,
    "mlrb.work": request.work,
    "mlrb.log": request.log,
    "mlrb.image": own.image,
    ...(timeMs !== undefined && { "mlrb.time-ms": String(timeMs) }),
    ...(memoryBytes !== undefined && { "mlrb.memory-bytes": String(memoryBytes) }),
  };
}

export function readStageLabels(labels: Record<string, string>): LabelledStage {
  const number = (name: string) => (labels[name] === undefined ? undefined : Number(labels[name]));
  const timeMs = number("mlrb.time-ms");
  const memoryBytes = number("mlrb.memory-bytes");
  return {
    run: labels["mlrb.run"] ?? "",
    stage: labels["mlrb.stage"] ?? "",
    key: labels["mlrb.key"] ?? "",
    work: labels["mlrb.work"] ?? "",
    log: labels["mlrb.log"] ?? "",
    image: labels["mlrb.image"] ?? "",
    limits: { ...(timeMs !== undefined && { timeMs }), ...(memoryBytes !== undefined && { memoryBytes }) },
  };
}
