// Safetensors files and indexes that lie about lengths, shapes, offsets and names.
import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileOf, float32, safetensorsBytes } from "../../safetensors/testing/safetensors-bytes.ts";
import { byCalls, type Changes, type HostileCase, listed, weights, withFiles } from "./hostile-case.ts";

const MB = 1_000_000;
const data = Buffer.alloc(32);
const tensor = (offsets: unknown, shape: unknown = [2], dtype: unknown = "F32") => ({
  dtype,
  shape,
  data_offsets: offsets,
});
const whole = JSON.stringify(tensor([0, 32], [8]));

/** A file that names a header of this length. */
function lengthOf(length: bigint): Buffer {
  const bytes = Buffer.from(weights);
  bytes.writeBigUInt64LE(length);
  return bytes;
}

/** A file with a header of `bytes`: one text in its metadata for each `textBytes`. */
function headerOf(bytes: number, name = "a"): Buffer {
  const texts = listed(Math.ceil(bytes / 500_000), (at) => `"${at}":"${"x".repeat(500_000)}"`);
  return fileOf(`{"__metadata__":{${texts}},"${name}":${whole}}`, data);
}

/** A file of `count` empty tensors, named with a prefix. */
function emptyTensors(count: number, prefix = ""): Buffer {
  const none = JSON.stringify(tensor([0, 0], [0]));
  return fileOf(`{${listed(count, (at) => `"${prefix}${at}":${none}`)}}`, Buffer.alloc(0));
}

const files: Record<string, Uint8Array | (() => Uint8Array)> = {
  "file-empty": Buffer.alloc(0),
  "file-7-bytes": Buffer.alloc(7),
  "file-of-null-bytes": Buffer.alloc(1000),
  "length-2-to-63": lengthOf(2n ** 63n),
  "length-all-ones": lengthOf(2n ** 64n - 1n),
  "length-beyond-file": lengthOf(1000n),
  "length-cut-by-one": lengthOf(BigInt(weights.readBigUInt64LE()) - 1n),
  "header-9-mb": () => headerOf(9 * MB),
  "tensors-100-001": () => emptyTensors(100_001),
  "header-deep": () => fileOf(`{"a":${"[".repeat(MB)}${"]".repeat(MB)}}`, data),
  "header-wide": () => fileOf(`{"a":[${listed(3 * MB, () => "1")}]}`, data),
  "header-list": fileOf("[]", data),
  "header-not-json": fileOf("{nope}", data),
  "header-after-space": fileOf(` {"a":${whole}}`, data),
  "header-byte-order-mark": fileOf(`\ufeff{"a":${whole}}`, data),
  "header-null-bytes-after": fileOf(`{"a":${whole}}\0\0`, data),
  "header-equal-names": fileOf(`{"a":${whole},"a":${whole}}`, data),
  "header-equal-names-escaped": fileOf(`{"a":${whole},"\\u0061":${whole}}`, data),
  "header-equal-metadata": fileOf(`{"__metadata__":{"a":"1","a":"2"},"a":${whole}}`, data),
  "name-2-000-bytes": fileOf(`{"${"n".repeat(2000)}":${whole}}`, data),
};

const headers: Record<string, unknown> = {
  "metadata-number": { __metadata__: { n: 1 }, a: tensor([0, 32], [8]) },
  "metadata-nested": { __metadata__: { n: { m: "x" } }, a: tensor([0, 32], [8]) },
  "metadata-list": { __metadata__: [], a: tensor([0, 32], [8]) },
  "entry-list": { a: [1, 2] },
  "entry-null": { a: null },
  "entry-with-pickle": { a: { ...tensor([0, 32], [8]), pickle: 1 } },
  "entry-without-shape": { a: { dtype: "F32", data_offsets: [0, 32] } },
  "dtype-unknown": { a: tensor([0, 32], [8], "F13") },
  "dtype-of-prototype": { a: tensor([0, 32], [8], "constructor") },
  "dtype-number": { a: tensor([0, 32], [8], 32) },
  "dtype-half-bytes": { a: tensor([0, 32], [63], "F4") },
  "shape-negative": { a: tensor([0, 32], [-8]) },
  "shape-fraction": { a: tensor([0, 32], [0.5, 16]) },
  "shape-text": { a: tensor([0, 32], ["8"]) },
  "shape-overflow": { a: tensor([0, 32], [2 ** 40, 2 ** 40]) },
  "shape-wraps-to-8": { a: tensor([0, 32], [2 ** 32, 2 ** 32, 8]) },
  "shape-1e308": { a: tensor([0, 32], [1e308, 1e308]) },
  "shape-33-lengths": { a: tensor([0, 32], [8, ...Array(32).fill(1)]) },
  "shape-too-large": { a: tensor([0, 32], [9]) },
  "shape-too-small": { a: tensor([0, 32], [7]) },
  "offsets-overlap": { a: tensor([0, 16], [4]), b: tensor([8, 32], [6]) },
  "offsets-equal": { a: tensor([0, 32], [8]), b: tensor([0, 32], [8]) },
  "offsets-gap": { a: tensor([0, 8]), b: tensor([16, 32], [4]) },
  "offsets-late": { a: tensor([8, 32], [6]) },
  "offsets-backwards": { a: tensor([32, 0], [8]) },
  "offsets-negative": { a: tensor([-8, 24], [8]) },
  "offsets-beyond-file": { a: tensor([0, 4096], [1024]) },
  "offsets-1e18": { a: tensor([1e18, 1e18 + 4096], [1024]) },
  "offsets-fraction": { a: tensor([0, 31.5], [8]) },
  "offsets-text": { a: tensor(["0", "32"], [8]) },
  "offsets-three": { a: tensor([0, 16, 32], [8]) },
  "bytes-hidden-after": { a: tensor([0, 8]) },
};

const index = (map: unknown) => JSON.stringify({ metadata: { total_size: 12 }, weight_map: map });
const two: Changes = {
  "model.safetensors": undefined,
  "model-1.safetensors": weights,
  "model-2.safetensors": safetensorsBytes({ b: float32([1], [3]) }),
};
const sharded = (map: unknown): Changes => ({
  ...two,
  "model.safetensors.index.json": typeof map === "string" ? map : index(map),
});

const indexes: Record<string, [string, unknown]> = {
  "leads-out": ["shard-index", { a: "../model.safetensors" }],
  "leads-to-root": ["shard-index", { a: "/etc/model.safetensors" }],
  "leads-down": ["shard-index", { a: "sub/model.safetensors" }],
  "leads-by-backslash": ["shard-index", { a: "..\\model.safetensors" }],
  "names-address": ["shard-index", { a: "https://host/model.safetensors" }],
  "names-null-byte": ["shard-index", { a: "model-1.safetensors\0.safetensors" }],
  "names-pickle": ["shard-index", { a: "pytorch_model.bin" }],
  "names-number": ["shard-index", { a: 1 }],
  "names-itself": ["shard-index", { a: "model.safetensors.index.json" }],
  "names-dots": ["missing-shard", { a: "...safetensors" }],
  "names-absent": ["missing-shard", { a: "model-1.safetensors", b: "model-3.safetensors" }],
  "omits-tensor": ["shard-index", { a: "model-1.safetensors", c: "model-2.safetensors" }],
  "swaps-shards": ["shard-index", { a: "model-2.safetensors", b: "model-1.safetensors" }],
  "invents-tensor": [
    "shard-index",
    { a: "model-1.safetensors", b: "model-2.safetensors", c: "model-2.safetensors" },
  ],
  "of-prototype": ["shard-index", '{"weight_map":{"__proto__":"model-1.safetensors"}}'],
  "map-empty": ["shard-index", {}],
  "map-list": ["shard-index", ["model-1.safetensors"]],
  "map-absent": ["shard-index", "{}"],
  "not-json": ["shard-index", "{"],
  "equal-keys": ["shard-index", '{"weight_map":{"a":"model-1.safetensors","a":"model-2.safetensors"}}'],
};

/** `count` shards of one header each. */
function manyShards(count: number, bytes: (at: number) => Uint8Array): Changes {
  const map = Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, `${at}.safetensors`]));
  const shards = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${at}.safetensors`, bytes(at)]),
  );
  return { "model.safetensors": undefined, ...shards, "model.safetensors.index.json": index(map) };
}

const large = { large: true };

export const hostileWeights: HostileCase[] = [
  ...Object.entries(files).map(([name, bytes]) =>
    withFiles(`weights-${name}`, ["safetensors"], () => ({
      "model.safetensors": typeof bytes === "function" ? bytes() : bytes,
    })),
  ),
  ...Object.entries(headers).map(([name, header]) =>
    withFiles(`weights-${name}`, ["safetensors"], {
      "model.safetensors": fileOf(JSON.stringify(header), data),
    }),
  ),
  withFiles("weights-none", ["no-weights"], { "model.safetensors": undefined }),
  withFiles("weights-without-tensor", ["no-weights"], { "model.safetensors": safetensorsBytes({}) }),
  withFiles(
    "weights-empty-of-2-to-53",
    [],
    {
      "model.safetensors": fileOf(JSON.stringify({ a: tensor([0, 0], [0, 2 ** 53 - 1]) }), Buffer.alloc(0)),
    },
    { explodes: "on load" },
  ),
  ...Object.entries(indexes).map(([name, [code, map]]) => withFiles(`index-${name}`, [code], sharded(map))),
  withFiles(
    "index-61-mb",
    ["shard-index"],
    () => ({
      ...two,
      "model.safetensors.index.json": `{"weight_map":{${listed(1_400_000, (at) => `"layers.${at}":"model-${at % 2}.safetensors"`)}}}`,
    }),
    large,
  ),
  withFiles("index-120-000-tensors", ["shard-index"], () =>
    sharded(`{"weight_map":{${listed(120_000, (at) => `"${at}":"model-1.safetensors"`)}}}`),
  ),
  withFiles(
    "header-98-mb-twice",
    ["safetensors"],
    () => manyShards(2, (at) => headerOf(98 * MB, `t${at}`)),
    large,
  ),
  withFiles(
    "headers-21-mb-in-three-shards",
    ["safetensors"],
    () => manyShards(3, (at) => headerOf(7 * MB, `t${at}`)),
    large,
  ),
  withFiles("tensors-60-000-twice", ["safetensors"], () =>
    manyShards(2, (at) => emptyTensors(60_000, `${at}.`)),
  ),
  withFiles("shards-1-001", ["shard-index"], () =>
    manyShards(1001, (at) => safetensorsBytes({ [`t${at}`]: float32([1], [1]) })),
  ),
  withFiles("shards-missing-900", ["missing-shard"], () => ({
    ...manyShards(900, () => weights),
    ...Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`${at}.safetensors`, undefined])),
  })),
  byCalls("shards-share-a-file", ["shard-index"], (folder) => {
    withFiles("", [], sharded({ a: "model-1.safetensors", b: "model-3.safetensors" })).make(folder);
    linkSync(join(folder, "model-1.safetensors"), join(folder, "model-3.safetensors"));
  }),
  byCalls("shards-share-a-tensor", ["shard-index"], (folder) => {
    withFiles("", [], sharded({ a: "model-1.safetensors", b: "model-2.safetensors" })).make(folder);
    writeFileSync(
      join(folder, "model-2.safetensors"),
      safetensorsBytes({ a: float32([2], [1, 2]), b: float32([1], [1]) }),
    );
  }),
];
