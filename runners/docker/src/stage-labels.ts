// What a stage's container is marked with, so that a runner that comes after a dead one knows what it is, whose it
// was, and everything needed to wait for it in the dead one's place.
import { hash } from "node:crypto";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";

/** What is known of a stage's container without the request that it was made from. */
export type LabelledStage = {
  run: string;
  stage: string;
  key: string;
  work: string;
  log: string;
  limits: ExecutionRequest["limits"];
  image: string;
};

/** Short, and the same for every name of the state folder that a run may use. */
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
