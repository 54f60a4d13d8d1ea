// The stage of research at which a program failed, by the end of its output.
import type { Where } from "@mlrb/formats/attempt/iterations";
import type { CommandKind } from "./command-kind.ts";

export const outOfMemory =
  /out of memory|OutOfMemoryError|MemoryError|Cannot allocate memory|std::bad_alloc/i;
const data =
  /KeyError|UnicodeDecodeError|JSONDecodeError|ParserError|DatasetNotFound|FileNotFoundError[^\n]*(data|jsonl|csv|parquet)|No such file[^\n]*(data|jsonl|csv|parquet)/;
const implement =
  /SyntaxError|IndentationError|NameError|ImportError|ModuleNotFoundError|AttributeError|TypeError|command not found|No matching distribution|Could not find a version/;
const train = /\bloss\b[^\n]*\bnan\b|CUDA error|NCCL|gradient/i;
const submit = /safetensors_rust|save_pretrained|No space left on device/i;

/** `said` is the program's output; undefined if its end shows no error. */
export function errorStage(said: string, kind: CommandKind | undefined): Where | undefined {
  const tail = said.slice(-4000);
  if (outOfMemory.test(tail)) return kind === "evaluate" ? "evaluate" : "train";
  if (implement.test(tail)) return "implement";
  if (data.test(tail)) return "data";
  if (train.test(tail)) return "train";
  if (submit.test(tail)) return "submit";
  return /Traceback|\bError\b|\berror:/.test(tail) ? "implement" : undefined;
}
