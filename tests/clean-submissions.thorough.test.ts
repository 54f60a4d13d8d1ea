// The folder that scorers load, against transformers itself: it changes no model of any type, and nothing in it
// leads outside. The models are tiny and random.
import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { settingsTable } from "@mlrb/kit/admission/settings-table";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { makeSubmissions } from "../scorers/testing/submissions.ts";
import { runPython } from "./support/run-python.ts";
import { drawn } from "./support/test-seed.ts";

const repository = resolve(import.meta.dirname, "..");
const root = realpathSync(mkdtempSync(join(tmpdir(), "clean-")));
const submissions = join(root, "submissions");
before(() => makeSubmissions(submissions));
after(() => rmSync(root, { recursive: true, force: true }));

const python = (args: string[]) => runPython(args, { timeout: 300_000 });

function tinyModels(...args: string[]) {
  const lines = python([join(repository, "tests/support/submissions/tiny_models.py"), ...args]).trimEnd();
  return JSON.parse(lines.slice(lines.lastIndexOf("\n") + 1));
}

test("the table of settings is that of the installed transformers", () => {
  const written = join(root, "table.json");
  python([join(repository, "tests/support/settings-table/make_settings_table.py"), "--output", written]);
  const table = readJson(join(repository, "runners/kit/src/admission/settings-table.json"));
  assert.deepEqual(
    readJson(written),
    table,
    "run tests/support/settings-table/make_settings_table.py with the environment's Python, then biome check --write",
  );
});

test("a clean folder gives the settings and logits of the original, for the types that can be made here (half of them, drawn)", (t) => {
  const models = join(root, "models");
  mkdirSync(models);
  const of = process.env.MLRB_TEST_MODEL_TYPES === "all" ? 1 : 2;
  const [part] = drawn(["0", "1"].slice(0, of), 1);
  const { made, skipped }: { made: string[]; skipped: Record<string, string> } = tinyModels(
    ...["make", models, part!, String(of)],
  );
  for (const [type, why] of Object.entries(skipped)) t.diagnostic(`${type} cannot be made here: ${why}`);
  assert.ok(made.length >= 130 / of, `only ${made.length} types were made`);
  const notScorable = new Set(Object.keys(settingsTable.notScored));
  for (const type of made) {
    const folder = join(models, type);
    writeFileSync(join(folder, "tokenizer.json"), "{}");
    const { reasons, undecided } = admit(folder);
    const codes = notScorable.has(type) ? ["not-scorable"] : [];
    assert.deepEqual([reasons.map(({ code }) => code), undecided], [codes, undefined], type);
    if (codes.length === 0) writeCleanSubmission(folder, `${folder}.clean`);
  }
  // the comparison notices a lost setting
  const lossy = join(models, "gpt2.lossy");
  cpSync(join(models, "gpt2"), lossy, { recursive: true });
  cpSync(join(models, "gpt2.clean"), `${lossy}.clean`, { recursive: true });
  const { layer_norm_epsilon: _, ...rest } = readJson(join(lossy, "config.json")) as Record<string, unknown>;
  writeJson(join(`${lossy}.clean`, "config.json"), rest);
  const { "gpt2.lossy": lost, ...different } = tinyModels("compare", models);
  assert.match(lost, /^layer_norm_epsilon/);
  assert.deepEqual(different, {});
});

/** A copy of the tiny submission with changed files; undefined removes one. */
function variant(name: string, files: Record<string, unknown>): string {
  const folder = join(root, name);
  cpSync(join(submissions, "tiny"), folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    if (content === undefined) rmSync(join(folder, file));
    else writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

/** Tokens of one letter; `first` is the id of the letter a. */
function letters(first: number): Record<string, number> {
  const all = "abcdefghijklmnopqrstuvwxyz".split("");
  return Object.fromEntries([["<|endoftext|>", 0], ...all.map((letter, at) => [letter, first + at])]);
}

test("a loader takes no tokenizer from outside that the settings name, and would have from the original", () => {
  const outside = join(root, "outside");
  mkdirSync(outside);
  const tokenizer = readJson(join(submissions, "tiny/tokenizer.json")) as {
    model: { vocab: Record<string, number> };
  };
  const { a, b } = tokenizer.model.vocab;
  Object.assign(tokenizer.model.vocab, { a: b, b: a });
  writeJson(join(outside, "tokenizer.json"), tokenizer);
  writeFileSync(join(outside, "vocab.json"), JSON.stringify(letters(40)));
  writeFileSync(join(outside, "merges.txt"), "#version: 0.2\na b\n");
  writeFileSync(join(outside, "vocab.txt"), "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\nab\n");
  const settings = readJson(join(submissions, "tiny/tokenizer_config.json")) as object;
  const elsewhere = { tokenizer_file: join(outside, "tokenizer.json") };
  const slow = { "tokenizer.json": undefined, "merges.txt": "#version: 0.2\n" };
  const gpt2 = { ...settings, tokenizer_class: "GPT2Tokenizer" };
  const own = JSON.stringify({ ...letters(10), ab: 99 });
  const attacks = {
    "whole-tokenizer": variant("whole-tokenizer", { "tokenizer_config.json": { ...settings, ...elsewhere } }),
    "by-special-tokens": variant("by-special-tokens", { "special_tokens_map.json": elsewhere }),
    vocabulary: variant("vocabulary", {
      ...slow,
      "vocab.json": own,
      "tokenizer_config.json": { ...gpt2, vocab_file: join(outside, "vocab.json") },
    }),
    merges: variant("merges", {
      ...slow,
      "vocab.json": own,
      "tokenizer_config.json": { ...gpt2, merges_file: join(outside, "merges.txt") },
    }),
    "system-file": variant("system-file", {
      "tokenizer.json": undefined,
      "vocab.txt": "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\n##b\n",
      "tokenizer_config.json": { tokenizer_class: "BertTokenizer", vocab_file: join(outside, "vocab.txt") },
    }),
  };
  const folders = Object.values(attacks).flatMap((folder) => {
    assert.deepEqual(admit(folder).reasons, [], folder);
    writeCleanSubmission(folder, `${folder}-clean`);
    // what the folder says without the attack
    const honest = `${folder}-honest`;
    cpSync(folder, honest, { recursive: true });
    for (const file of ["tokenizer_config.json", "special_tokens_map.json"]) {
      if (!readdirSync(honest).includes(file)) continue;
      const kept = Object.entries(readJson(join(honest, file)) as object).filter(
        ([key]) => !key.endsWith("_file"),
      );
      writeJson(join(honest, file), Object.fromEntries(kept));
    }
    return [folder, `${folder}-clean`, honest];
  });
  const found: { ids?: number[] }[] = tinyModels("open", ...folders);
  for (const [at, name] of Object.keys(attacks).entries()) {
    const [hostile, clean, honest] = found.slice(3 * at, 3 * at + 3);
    assert.ok(honest!.ids, `${name}: ${JSON.stringify(honest)}`);
    assert.deepEqual(clean, honest, name);
    assert.notDeepEqual(hostile, honest, `${name} is no attack on this transformers`);
  }
});

test("no other setting of a hostile submission is obeyed by a loader", () => {
  const config = readJson(join(submissions, "tiny/config.json")) as object;
  const kernel = { _attn_implementation: { "": "someone/kernel" } };
  const attention = variant("attention", { "config.json": { ...config, ...kernel } });
  assert.equal(admit(attention).reasons[0]?.code, "config");
  const quantized = variant("quantized", {
    "config.json": { ...config, quantization_config: { quant_method: "gptq", bits: 4, modules: "x/y" } },
  });
  assert.match(admit(quantized).undecided![0]!.detail, /quantization_config/);
  const folders = [attention, quantized].flatMap((folder) => {
    writeCleanSubmission(folder, `${folder}-clean`);
    assert.doesNotMatch(readFileSync(join(`${folder}-clean`, "config.json"), "utf8"), /kernel|quant|x\/y/);
    return [folder, `${folder}-clean`];
  });
  const found: { attention: string | null }[] = tinyModels("open", ...folders);
  assert.deepEqual(
    found.map(({ attention }) => attention),
    ["someone/kernel", null, null, null],
  );
});

test("a model without a type is rejected, whatever the path of its folder", () => {
  const { model_type: _, ...config } = readJson(join(submissions, "tiny/config.json")) as {
    model_type: string;
  };
  const folder = variant("gpt2-in-its-path", { "config.json": config });
  const load = `
import sys
from pathlib import Path
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import load_submission
try:
    load_submission(Path(sys.argv[1]))
    print("loaded")
except Rejected as rejected:
    print(rejected)
`;
  assert.equal(python(["-c", load, folder]).trim(), "config.json has no model_type");
});
