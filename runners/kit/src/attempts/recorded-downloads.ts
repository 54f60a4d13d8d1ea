// What entered a sealed attempt, from its trajectory: the supervisor's record, and no claim of the agent.

import { trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { followsFormat } from "@mlrb/formats/read-format";
import { splitLines } from "./split-lines.ts";

export type RecordedRepository = {
  from: "model" | "dataset" | "code";
  /** As the hub names it. */
  id: string;
  /** Whether a file that can hold weights was downloaded. */
  weights: boolean;
  createdAt?: string;
  parameters?: number;
};

const weightFile = /\.(safetensors|bin|pt|pth|ckpt|gguf|ggml|h5|msgpack|onnx|npz|npy|pkl|tar|zip|gz)$/i;
const isEvent = followsFormat(trajectoryEvent);

/**
 * The repositories of which files entered, in order of first download; packages are left out. Undefined if the attempt had
 * another network, or a plain folder, which keeps nothing out. The trajectory must be intact.
 */
export async function recordedDownloads(trajectory: string): Promise<RecordedRepository[] | undefined> {
  const found = new Map<string, RecordedRepository>();
  let sealed = false;
  for await (const line of splitLines(trajectory)) {
    if (typeof line === "string") return undefined;
    const event: unknown = JSON.parse(line.toString());
    if (!isEvent(event)) continue;
    if (event.event === "start") {
      sealed = event.network === "hub" && event.sandbox !== "plain";
      if (!sealed) return undefined;
    }
    if (event.event !== "download" || event.from === "package") continue;
    const { from, id, path, createdAt, parameters } = event;
    const key = `${from} ${id}`;
    const held = found.getOrInsertComputed(key, () => ({ from, id, weights: false }));
    if (from === "model" && weightFile.test(path)) held.weights = true;
    if (createdAt !== undefined) held.createdAt = createdAt;
    if (parameters !== undefined) held.parameters = parameters;
  }
  return sealed ? [...found.values()] : undefined;
}
