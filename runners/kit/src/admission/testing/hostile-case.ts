// One hostile submission: an honest tiny model with one thing changed, and what admission must answer.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { float32, safetensorsBytes } from "../../safetensors/testing/safetensors-bytes.ts";

/** Undefined removes the file of the honest model. */
export type Changes = Record<string, string | Uint8Array | undefined>;

export type HostileCase = {
  /** Names the folder. */
  name: string;
  /** The codes of all reasons, sorted and once each; empty if the folder is admitted. */
  codes: string[];
  /** The danger comes only when transformers loads the folder: the load check and the walls contain it. */
  explodes?: "on load";
  /** Writes over 20 MB, or over 10 000 files. */
  large?: boolean;
  /** Changes the honest folder. A text is the reason why this machine cannot make the case. */
  make: (folder: string) => string | undefined;
};

export const weights = safetensorsBytes({ a: float32([2], [1, 2]) });

const honestModel: Record<string, string | Uint8Array> = {
  "config.json": '{"model_type":"gpt2","architectures":["GPT2LMHeadModel"]}',
  "generation_config.json": "{}",
  "tokenizer_config.json":
    '{"tokenizer_class":"PreTrainedTokenizerFast","model_max_length":1000000000000000019884624838656}',
  "tokenizer.json":
    '{"version":"1.0","added_tokens":[],"model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}}',
  "model.safetensors": weights,
};

/** A case made by writing or removing files. */
export function withFiles(
  name: string,
  codes: string[],
  changes: Changes | (() => Changes),
  more: Pick<HostileCase, "explodes" | "large"> = {},
): HostileCase {
  const make = (folder: string) => {
    writeChanges(folder, typeof changes === "function" ? changes() : changes);
    return undefined;
  };
  return { name, codes, ...more, make };
}

/** A case made by other calls than writing files. A text that `make` returns is why it cannot be made here. */
export function byCalls(
  name: string,
  codes: string[],
  make: (folder: string) => unknown,
  more: Pick<HostileCase, "explodes" | "large"> = {},
): HostileCase {
  const answer = (folder: string) => {
    const skipped = make(folder);
    return typeof skipped === "string" ? skipped : undefined;
  };
  return { name, codes, ...more, make: answer };
}

function writeChanges(folder: string, changes: Changes): void {
  for (const [name, content] of Object.entries(changes)) {
    const path = join(folder, name);
    if (content === undefined) rmSync(path, { force: true });
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }
}

/** Writes the case below `root` and returns its folder, or why it cannot be made here. */
export function writeCase(
  root: string,
  { name, make }: HostileCase,
): { folder: string; skipped: string | undefined } {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeChanges(folder, honestModel);
  return { folder, skipped: make(folder) };
}

/** `count` items joined by commas. */
export function listed(count: number, item: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => item(at)).join(",");
}
