import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { float32, safetensorsBytes } from "../safetensors/testing/safetensors-bytes.ts";
import { admit } from "./admit-submission.ts";

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
    "run.py": "",
  });
  assert.deepEqual(found.sort(), ["code", "no-config", "no-tokenizer", "safetensors"]);
});

for (const name of [
  "modeling_x.py",
  "training_args.bin",
  "deep/er/optimizer.pt",
  "libx.so.1",
  "X.PKL",
  "data.npz",
]) {
  test(`${name} is code`, () => assert.deepEqual(codes({ [name]: "x" }), ["code"]));
}

test("a pickle, a program and a script are code under any name", () => {
  for (const start of ["\x80\x04\x95", "PK\x03\x04", "\x7fELF", "#!/bin/sh"])
    assert.deepEqual(codes({ "notes.txt": Buffer.from(start, "latin1") }), ["code"], start);
});

test("settings that make a loader run code or take other weights are refused at any depth", () => {
  const settings = [
    '{"auto_map":{"AutoModel":"x--y.Z"}}',
    '{"text_config":{"inner":[{"trust_remote_code":true}]}}',
    '{"transformers_weights":"other.safetensors"}',
    '{"_attn_implementation":"someone/kernel"}',
  ];
  for (const text of settings) assert.deepEqual(codes({ "config.json": text }), ["code"], text);
  assert.deepEqual(codes({ "tokenizer_config.json": settings[0]! }), ["code"]);
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

test("an adapter without its base is refused", () => {
  assert.deepEqual(codes({ "adapter_config.json": "{}" }), ["adapter"]);
});

test("links to anywhere are refused", () => {
  const folder = folderWith({ "model.safetensors": undefined });
  writeFileSync(join(root, "outside.safetensors"), weights);
  symlinkSync(join(root, "outside.safetensors"), join(folder, "model.safetensors"));
  symlinkSync("config.json", join(folder, "again.json"));
  symlinkSync("/", join(folder, "up"));
  assert.deepEqual(
    admit(folder).reasons.map(({ code }) => code),
    ["odd-file", "odd-file", "odd-file", "no-weights"],
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

test("a thousand reasons of a kind are shown as twenty and a count", () => {
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}.py`, ""]));
  const { reasons } = admit(folderWith(files));
  assert.equal(reasons.length, 21);
  assert.deepEqual(reasons.at(-1), { code: "code", detail: "and 80 more" });
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
