import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { float32, safetensorsBytes } from "../safetensors/testing/safetensors-bytes.ts";
import { admit } from "./admit-submission.ts";
import { writeCleanSubmission } from "./clean-submission.ts";

const root = mkdtempSync(join(tmpdir(), "admission-"));
after(() => rmSync(root, { recursive: true }));

const weights = safetensorsBytes({ a: float32([2], [1, 2]) });
const good: Record<string, string | Uint8Array> = {
  "config.json": '{"model_type":"gpt2"}',
  "tokenizer.json": '{"model":{"vocab":{"a":0}}}',
  "model.safetensors": weights,
};

/** A folder of the good model with some files changed; undefined takes one away. */
function folderWith(changes: Record<string, string | Uint8Array | undefined>): string {
  const folder = mkdtempSync(join(root, "model-"));
  for (const [name, content] of Object.entries({ ...good, ...changes })) {
    if (content === undefined) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

function codes(changes: Record<string, string | Uint8Array | undefined>): string[] {
  const { admitted, reasons } = admit(folderWith(changes));
  assert.equal(admitted, reasons.length === 0);
  return reasons.map(({ code }) => code);
}

test("a complete model with provenance and notes is admitted", () => {
  assert.deepEqual(
    codes({ "provenance.json": "{broken", "README.md": "# hi", "generation_config.json": "{}" }),
    [],
  );
});

test("an empty submission is rejected as no submission", () => {
  const empty = mkdtempSync(join(root, "empty-"));
  for (const folder of [empty, join(root, "absent")]) {
    const { admitted, reasons } = admit(folder);
    assert.equal(admitted, false);
    assert.equal(reasons[0]?.code, "empty");
    assert.match(reasons[0]!.detail, /^no submission/);
  }
});

test("all reasons are reported at once", () => {
  const found = codes({
    "config.json": undefined,
    "tokenizer.json": undefined,
    "model.safetensors": weights.subarray(0, 20),
  });
  assert.deepEqual(found.sort(), ["no-config", "no-tokenizer", "safetensors"]);
});

const ignoredOf = (folder: string) => admit(folder).ignored;

test("files that no loader opens are listed, and no reason against the submission", () => {
  const others = {
    "training_args.bin": "\x80\x02",
    "checkpoint-500/optimizer.pt": "PK",
    "modeling_x.py": "#!/bin/sh",
    "pytorch_model.bin": "x",
    "config.4.40.0.json": "{",
    "preprocessor_config.json": "[",
    "README.md": "x",
  };
  assert.deepEqual(codes(others), []);
  assert.deepEqual(ignoredOf(folderWith({ ...others, "provenance.json": "{}", "vocab.txt": "a\n" })), {
    count: 7,
    first: [
      { path: "README.md", why: "a file" },
      { path: "checkpoint-500", why: "a folder" },
      { path: "config.4.40.0.json", why: "a file" },
      { path: "modeling_x.py", why: "a file" },
      { path: "preprocessor_config.json", why: "a file" },
      { path: "pytorch_model.bin", why: "a file" },
      { path: "training_args.bin", why: "a file" },
    ],
  });
});

test("a submission of nothing but what loaders open lists nothing as ignored", () => {
  assert.deepEqual(admit(folderWith({})), { formatVersion: 1, admitted: true, reasons: [] });
});

test("the list of ignored files is bounded, and says how many there are", () => {
  const { count, first } = ignoredOf(
    folderWith(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}`.padEnd(250, "x"), ""]))),
  )!;
  assert.deepEqual([count, first.length, first[0]!.path.length], [150, 100, 200]);
});

test("what is ignored is never opened, whatever it is", () => {
  const folder = folderWith({ "checkpoint-1/a": "x" });
  // opening a pipe without a writer would block for ever
  for (const name of ["training_args.bin", "model.py", "other.safetensors", "chat_template.jinja"])
    execFileSync("mkfifo", [join(folder, name)]);
  writeFileSync(join(folder, "optimizer.pt"), "");
  truncateSync(join(folder, "optimizer.pt"), 2 ** 42);
  writeFileSync(join(folder, "locked.bin"), "", { mode: 0 });
  symlinkSync("/", join(folder, "up"));
  const program = `
import { admit } from "${import.meta.dirname}/admit-submission.ts";
import { writeCleanSubmission } from "${import.meta.dirname}/clean-submission.ts";
const { admitted, ignored } = admit(process.argv[1]);
writeCleanSubmission(process.argv[1], process.argv[2]);
console.log(admitted, ignored.count);`;
  const to = mkdtempSync(join(root, "clean-"));
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", program, folder, to], {
    encoding: "utf8",
    timeout: 20_000,
  });
  assert.equal(said.trim(), "true 8");
  assert.deepEqual(readdirSync(to).sort(), ["config.json", "model.safetensors", "tokenizer.json"]);
});

test("weights that no loader finds are rejected, with the place where they may be", () => {
  const none = { "model.safetensors": undefined };
  const cases: [Record<string, string>, RegExp][] = [
    [
      { "pytorch_model.bin": "x", "training_args.bin": "x" },
      /"pytorch_model\.bin" may be a pickle.*safe_serial/,
    ],
    [{ "model-Q4.gguf": "x" }, /no file named "model-Q4\.gguf": save the model with save_pretrained/],
    [{ "weights.safetensors": "x" }, /no file named "weights\.safetensors": save/],
    [{ "checkpoint-500/model.safetensors": "x" }, /such as "checkpoint-500" are not opened/],
    [{ "training_args.bin": "x" }, /is there$/],
  ];
  for (const [files, advice] of cases) {
    const [reason] = admit(folderWith({ ...none, ...files })).reasons;
    assert.equal(reason?.code, "no-weights");
    assert.match(reason!.detail, advice);
  }
  const folder = mkdtempSync(join(root, "nested-"));
  mkdirSync(join(folder, "checkpoint-500"));
  const [reason] = admit(folder).reasons;
  assert.equal(reason!.code, "empty");
  assert.match(reason!.detail, /holds no file; folders such as "checkpoint-500" are not opened/);
});

test("settings that name code are left out where transformers has the type, and not scorable otherwise", () => {
  const map = { AutoConfig: "configuration_x.X", AutoModelForCausalLM: "x--y.Z" };
  const phi3 = admit(folderWith({ "config.json": JSON.stringify({ model_type: "phi3", auto_map: map }) }));
  assert.equal(phi3.admitted, true);
  assert.deepEqual(
    phi3.dropped?.map(({ key }) => key),
    ["auto_map"],
  );
  const [unknown] = admit(
    folderWith({ "config.json": JSON.stringify({ model_type: "my_model", auto_map: map }) }),
  ).reasons;
  assert.equal(unknown!.code, "not-scorable");
  assert.match(unknown!.detail, /no causal language model for, and no code of a submission is run/);
  const tokenizer = { tokenizer_class: "MyTokenizer", auto_map: { AutoTokenizer: ["x.MyTokenizer", null] } };
  assert.deepEqual(codes({ "tokenizer_config.json": JSON.stringify(tokenizer) }), ["not-scorable"]);
  const native = { ...tokenizer, tokenizer_class: "GPT2Tokenizer" };
  assert.deepEqual(codes({ "tokenizer_config.json": JSON.stringify(native) }), []);
});

test("families that scorers cannot measure are not scorable, and a decoder of the same type is", () => {
  const type = (config: object) => codes({ "config.json": JSON.stringify(config) });
  for (const model_type of [
    "mbart",
    "plbart",
    "fsmt",
    "bert",
    "roberta",
    "cpmant",
    "doge",
    "vit",
    "my_model",
  ])
    assert.deepEqual(type({ model_type }), ["not-scorable"], model_type);
  assert.deepEqual(type({ model_type: "bert", is_decoder: true }), []);
  for (const model_type of ["t5", "mt5", "umt5", "bart", "marian", "encoder-decoder"])
    assert.deepEqual(type({ model_type }), [], model_type);
  assert.deepEqual(type({ model_type: 7 }), ["config"]);
});

test("settings that make a loader take other weights or a kernel are refused", () => {
  for (const more of [
    { transformers_weights: "other.safetensors" },
    { _attn_implementation: "someone/kernel" },
    { attn_implementation: { "": "someone/kernel" } },
  ])
    assert.deepEqual(codes({ "config.json": JSON.stringify({ model_type: "gpt2", ...more }) }), ["config"]);
});

test("no value of generation_config.json is a reason against a submission", () => {
  for (const text of [
    '{"max_new_tokens": 0, "trust_remote_code": true, "temperature": -1}',
    '{"eos_token_id": "</s>", "bos_token_id": {"a": "/etc"}}',
    "{broken",
    "[]",
  ])
    assert.deepEqual(codes({ "generation_config.json": text }), [], text);
  const folder = folderWith({ "generation_config.json": "{broken" });
  assert.equal(ignoredOf(folder)!.first[0]!.path, "generation_config.json");
});

test("a vocabulary beside tokenizer.json is left out if it cannot be read, and needed without it", () => {
  const files = { "vocab.json": '["a", "b"]', "merges.txt": "" };
  assert.deepEqual(codes(files), []);
  const folder = folderWith(files);
  assert.match(ignoredOf(folder)!.first[1]!.why, /^not an object; tokenizer\.json is read instead/);
  const to = join(folder, "clean");
  writeCleanSubmission(folder, to);
  assert.equal(existsSync(join(to, "vocab.json")), false);
  assert.deepEqual(codes({ ...files, "tokenizer.json": undefined }), ["tokenizer", "settings"]);
});

test("a tokenizer of bytes needs no vocabulary, and another one does", () => {
  const without = (tokenizer_class: string) =>
    codes({
      "tokenizer.json": undefined,
      "tokenizer_config.json": JSON.stringify({ tokenizer_class }),
    });
  assert.deepEqual(without("ByT5Tokenizer"), []);
  assert.deepEqual(without("GPT2Tokenizer"), ["no-tokenizer"]);
});

test("the word auto_map in a vocabulary is allowed", () => {
  assert.deepEqual(codes({ "tokenizer.json": '{"model":{"vocab":{"auto_map":0}}}' }), []);
});

test("a config that is a list, deep, doubled, cut or huge is refused", () => {
  const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
  for (const text of ["[]", "null", deep, '{"a":1,"a":2}', '{"a":', "", " ".repeat(5 << 20)])
    assert.deepEqual(codes({ "config.json": text }), ["config"], text.slice(0, 20));
});

test("infinities that Python writes into a config are accepted", () => {
  const text = '{"time_step_limit":[0.0, Infinity, -Infinity, NaN], "note":"NaN \\" Infinity"}';
  assert.deepEqual(codes({ "config.json": text }), []);
  assert.deepEqual(codes({ "config.json": '{"a": Infinityy}' }), ["config"]);
});

test("a table like one of infinity, that holds no text, makes no file unreadable", () => {
  for (const inner of ["1", "[]", '{"toString":null}']) {
    const text = `{"a":{"__float__":${inner}}}`;
    for (const name of ["config.json", "generation_config.json"])
      assert.deepEqual(codes({ [name]: text }), []);
  }
});

test("an adapter is refused, and ignored beside the weights of the whole model", () => {
  assert.deepEqual(codes({ "adapter_config.json": "{}" }), []);
  const alone = { "model.safetensors": undefined, "adapter_model.safetensors": "x" };
  assert.deepEqual(codes({ "adapter_config.json": "{}", ...alone }), ["adapter", "no-weights"]);
});

test("a link in the place of a file that loaders open is refused, and another one is ignored", () => {
  const folder = folderWith({ "model.safetensors": undefined });
  writeFileSync(join(root, "outside.safetensors"), weights);
  symlinkSync(join(root, "outside.safetensors"), join(folder, "model.safetensors"));
  symlinkSync("config.json", join(folder, "again.json"));
  symlinkSync("/", join(folder, "up"));
  assert.deepEqual(
    admit(folder).reasons.map(({ code }) => code),
    ["odd-file", "no-weights"],
  );
});

test("a pipe in place of the weights is refused without blocking", () => {
  const folder = folderWith({ "model.safetensors": undefined });
  execFileSync("mkfifo", [join(folder, "model.safetensors")]);
  assert.deepEqual(
    admit(folder).reasons.map(({ code }) => code),
    ["odd-file", "no-weights"],
  );
});

test("a sparse terabyte is refused without being read", () => {
  const folder = folderWith({});
  truncateSync(join(folder, "model.safetensors"), 2 ** 40);
  truncateSync(join(folder, "tokenizer.json"), 2 ** 40);
  const found = admit(folder).reasons.map(({ code }) => code);
  assert.deepEqual(found, ["settings", "safetensors"]);
});

const index = (map: unknown) => JSON.stringify({ metadata: {}, weight_map: map });
const shards = {
  "model.safetensors": undefined,
  "model-1.safetensors": weights,
  "model-2.safetensors": safetensorsBytes({ b: float32([1], [3]) }),
};

test("shards with a correct index are admitted", () => {
  const map = { a: "model-1.safetensors", b: "model-2.safetensors" };
  assert.deepEqual(codes({ ...shards, "model.safetensors.index.json": index(map) }), []);
});

test("an index may name tied weights that the shards hold under another name, and no other weight", () => {
  const map = { a: "model-1.safetensors", b: "model-2.safetensors" };
  for (const name of [
    "lm_head.weight",
    "transformer.wte.weight",
    "encoder.embed_tokens.weight",
    "cls.predictions.decoder.bias",
  ]) {
    const more = { ...map, [name]: "model-1.safetensors" };
    assert.deepEqual(codes({ ...shards, "model.safetensors.index.json": index(more) }), [], name);
  }
  for (const name of ["h.0.mlp.c_fc.weight", "lm_head.scale", "head"]) {
    const more = { ...map, [name]: "model-1.safetensors" };
    assert.deepEqual(
      codes({ ...shards, "model.safetensors.index.json": index(more) }),
      ["shard-index"],
      name,
    );
  }
});

test("a link in the place of a file, and a lone vocabulary of sentencepiece, are refused with the way out", () => {
  const folder = folderWith({ "model.safetensors": undefined });
  symlinkSync(join(folderWith({}), "model.safetensors"), join(folder, "model.safetensors"));
  const said = (of: string) =>
    admit(of)
      .reasons.map(({ detail }) => detail)
      .join();
  assert.match(said(folder), /"model\.safetensors": a symbolic link; links are not followed: .*cp -L/);
  const pieces = folderWith({ "tokenizer.json": undefined, "sentencepiece.bpe.model": "x" });
  assert.match(said(pieces), /save_pretrained, which writes tokenizer\.json/);
});

const badIndexes: [string, string, unknown][] = [
  ["leads out of the folder", "shard-index", { a: "../x.safetensors", b: "model-2.safetensors" }],
  ["names a pickle", "shard-index", { a: "model-1.bin" }],
  [
    "names a shard that is not there",
    "missing-shard",
    { a: "model-1.safetensors", b: "model-3.safetensors" },
  ],
  ["is silent about a tensor", "shard-index", { a: "model-1.safetensors", c: "model-2.safetensors" }],
  [
    "promises a tensor that is nowhere",
    "shard-index",
    { a: "model-1.safetensors", z: "model-1.safetensors" },
  ],
  ["maps nothing", "shard-index", {}],
  ["maps a list", "shard-index", ["model-1.safetensors"]],
];
for (const [what, code, map] of badIndexes) {
  test(`an index that ${what} is refused`, () => {
    assert.deepEqual(codes({ ...shards, "model.safetensors.index.json": index(map) }), [code]);
  });
}

test("an index with __proto__ or hostile names does no harm", () => {
  const map = '{"weight_map":{"__proto__":"model-1.safetensors","\\u202e\\n":"x\\u0000.safetensors"}}';
  const { reasons } = admit(folderWith({ ...shards, "model.safetensors.index.json": map }));
  assert.equal(reasons[0]?.code, "shard-index");
  for (const { detail } of reasons) assert.doesNotMatch(detail, /[\u0000-\u001f\u202e]/);
});

test("weights without a tensor are refused", () => {
  assert.deepEqual(codes({ "model.safetensors": safetensorsBytes({}) }), ["no-weights"]);
});

test("a hundred reasons of a kind are shown as twenty and a count", () => {
  const tokens = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`t${at}`, "no id"]));
  const { reasons } = admit(folderWith({ "added_tokens.json": JSON.stringify(tokens) }));
  assert.equal(reasons.length, 21);
  assert.deepEqual(reasons.at(-1), { code: "settings", detail: "and 80 more" });
});

test("no content of the known files makes admission throw", () => {
  const names = ["config.json", "tokenizer_config.json", "tokenizer.json", "model.safetensors.index.json"];
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.json().map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), content, (name, bytes) => {
      const folder = folderWith({ ...(name.endsWith("index.json") ? shards : {}), [name]: bytes });
      admit(folder);
      rmSync(folder, { recursive: true });
    }),
    { numRuns: 150 },
  );
});

test("an index with a name of a million characters is refused in little time", () => {
  const began = performance.now();
  const map = { "a.weight": "model-1.safetensors", [`${"head".repeat(200_000)}x`]: "model-1.safetensors" };
  const long = { ...good, "model.safetensors": undefined, "model.safetensors.index.json": index(map) };
  assert.deepEqual(
    codes({ ...long, "model-1.safetensors": safetensorsBytes({ "a.weight": float32([1], [1]) }) }),
    ["shard-index"],
  );
  assert.ok(performance.now() - began < 30_000, "it took minutes");
});
