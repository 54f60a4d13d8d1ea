// Submissions that try to read a certain file or the variables of a process, made when a test knows the file.
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { byCalls, type HostileCase, withFiles } from "@mlrb/kit/admission/testing/hostile-case";

const link = (name: string, to: string, codes: string[]): HostileCase =>
  byCalls(
    `outside-link-${name}-${to.startsWith("/proc") ? to.replaceAll("/", "_") : "file"}`,
    codes,
    (folder) => {
      rmSync(join(folder, name), { force: true });
      symlinkSync(to, join(folder, name));
    },
  );

/** `outside` is the absolute path of the file; it is a valid tokenizer and a valid table. */
export function outsideCases(outside: string): HostileCase[] {
  const named = { tokenizer_file: outside, vocab_file: outside, merges_file: outside };
  const environment = "/proc/self/environ";
  return [
    link("config.json", outside, ["no-config", "odd-file"]),
    link("tokenizer.json", outside, ["no-tokenizer", "odd-file"]),
    link("provenance.json", outside, ["odd-file"]),
    link("provenance.json", environment, ["odd-file"]),
    link("tokenizer.json", environment, ["no-tokenizer", "odd-file"]),
    withFiles("outside-by-tokenizer-settings", [], { "tokenizer_config.json": JSON.stringify(named) }),
    withFiles("outside-by-special-tokens", [], { "special_tokens_map.json": JSON.stringify(named) }),
    withFiles("outside-by-config", [], {
      "config.json": JSON.stringify({ model_type: "gpt2", _name_or_path: outside }),
    }),
    withFiles("outside-by-shard", ["shard-index"], {
      "model.safetensors": undefined,
      "model.safetensors.index.json": JSON.stringify({ weight_map: { a: outside } }),
    }),
  ];
}
