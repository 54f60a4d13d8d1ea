// What entered a sealed attempt, from its trajectory: the supervisor's record, and no claim of the agent.

import { type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { followsFormat } from "@mlrb/formats/read-format";
import { splitLines } from "./split-lines.ts";

export type RecordedRepository = {
  from: "model" | "dataset" | "code" | "package";
  /** As the hub names it. */
  id: string;
  /** Whether a file of a model was downloaded whose name is not of a text, a tokenizer or a picture. */
  weights: boolean;
  /** So large that weights or a corpus may be inside, whatever the names of its files say. */
  large?: true;
  createdAt?: string;
  parameters?: number;
  /** Of a model. */
  files?: ModelFile[];
};

export type ModelFile = {
  bytes: number;
  /** When its last commit was made; absent if it is not on record. */
  changedAt?: string;
  /** `weights`: by their name or size. `text`: texts, tokenizers and pictures by name. `other`: any other small file. */
  kind: "weights" | "text" | "other";
};

/** Files of a model that hold no weights, by name. Every other file counts as weights: their formats are without number. */
const noWeights = [
  /\.(json|jsonl|txt|md|py|ya?ml|jinja|tiktoken|png|jpe?g|gif|webp|svg)$/i,
  /(^|\/)(LICEN[CS]E|NOTICE|\.gitattributes|\.gitignore)$/i,
  /(^|\/)(tokenizer\.model|spiece\.model|[^/]*(sentencepiece|spm)[^/]*\.(bpe\.)?model|(vocab|merges)\.\w+)$/i,
];

/** The usual formats of weights. */
const weightsNames = /\.(safetensors|bin|pth?|ckpt|gguf|ggml|onnx|h5|msgpack|ot|np[yz]|pkl|pickle|tflite)$/i;

/** Of the files of a model that hold no weights by name; most tokenizers have less. */
export const textBytesMax = 10e6;
/**
 * Of a package or of code. A corpus of ten million words is about 20 MB when packed, and a model of 100 million
 * values more. The wheels of numpy, pandas and transformers are smaller; those of torch and pyarrow are not.
 */
const archiveBytesMax = 20e6;

const isEvent = followsFormat(trajectoryEvent);

/**
 * The repositories of which files entered, in order of first download; small packages are left out. Undefined if
 * the attempt had another network, or a plain folder, which keeps nothing out. The trajectory must be intact.
 */
export async function recordedDownloads(trajectory: string): Promise<RecordedRepository[] | undefined> {
  const found = new Map<string, Held>();
  let sealed = false;
  for await (const line of splitLines(trajectory)) {
    if (typeof line === "string") return undefined;
    const event: unknown = JSON.parse(line.toString());
    if (!isEvent(event)) continue;
    if (event.event === "start") {
      sealed = event.network === "hub" && event.sandbox !== "plain";
      if (!sealed) return undefined;
    }
    if (event.event === "download") hold(found, event);
  }
  if (!sealed) return undefined;
  return [...found.values()].map(({ repository }) => repository).filter(isShown);
}

type Download = Extract<TrajectoryEvent, { event: "download" }>;
type Held = { repository: RecordedRepository; texts: Map<string, number>; models: Map<string, ModelFile> };

function hold(found: Map<string, Held>, event: Download): void {
  const { from, id, path, digest, bytes, createdAt, changedAt, parameters } = event;
  const held = found.getOrInsertComputed(`${from} ${id}`, () => ({
    repository: { from, id, weights: false },
    texts: new Map(),
    models: new Map(),
  }));
  const { repository, texts, models } = held;
  if (createdAt !== undefined) repository.createdAt = createdAt;
  if (parameters !== undefined) repository.parameters = parameters;
  if (from === "dataset") return; // counts as data, whatever its size
  if (from === "model") {
    models.set(`${path} ${digest}`, {
      bytes,
      kind: kindOf(path, bytes),
      ...(changedAt !== undefined && { changedAt }),
    });
    repository.files = [...models.values()];
  }
  if (from === "model" && !noWeights.some((name) => name.test(path))) {
    repository.weights = true;
    delete repository.large;
  }
  if (repository.weights) return; // counts as weights, whatever its texts hold
  texts.set(digest, bytes); // parts of one file, or versions of a package, count together
  const all = texts.values().reduce((sum, one) => sum + one, 0);
  if (all > (from === "model" ? textBytesMax : archiveBytesMax)) repository.large = true;
}

function kindOf(path: string, bytes: number): ModelFile["kind"] {
  if (noWeights.some((name) => name.test(path))) return bytes > textBytesMax ? "weights" : "text";
  return bytes > textBytesMax || weightsNames.test(path) ? "weights" : "other";
}

function isShown({ from, large }: RecordedRepository): boolean {
  return from !== "package" || large === true;
}
