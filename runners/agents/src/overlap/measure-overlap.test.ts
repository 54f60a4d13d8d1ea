import assert from "node:assert/strict";
import { createCipheriv, createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { sourceFile } from "@mlrb/kit/source-file";
import { parquetWriteBuffer } from "hyparquet-writer";
import { pack } from "tar-stream";
import { storedZip } from "../../../../tests/support/servers/wheel.ts";
import { measureOverlap } from "./measure-overlap.ts";

const measure = { n: 8, wordsMin: 5, rowsMax: 10, normalisation: "letters-and-digits", share: 0.5 } as const;
const rows = [
  "The ferry left the harbour at seven in the evening, and nobody on the pier waved to it.",
  "A kettle on the stove began to sing long before the first of the guests had come.",
  "Under the bridge the water was so clear that every stone could be counted twice.",
];

/** Files of an attempt by their place, e.g. `workspace/files/home/a.py`. */
async function measured(
  t: TestContext,
  files: Record<string, string | Buffer | undefined>,
  events: object[] = [{ event: "start" }],
  more: { packedAllMs?: number } = {},
) {
  const root = mkdtempSync(join(tmpdir(), "overlap-"));
  t.after(() => rmSync(root, { recursive: true }));
  const all = {
    "public/train.jsonl": `${JSON.stringify({ text: "Something else that every agent is given to train on." })}\n`,
    "private/test.jsonl": rows.map((text) => `${JSON.stringify({ text })}\n`).join(""),
    "submission/config.json": "{}",
    "attachments/none": "",
    "workspace/index.json": JSON.stringify({ formatVersion: 1, folders: [] }),
    "trajectory.jsonl": events.map((event) => `${JSON.stringify(event)}\n`).join(""),
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (content !== undefined) writeFileSync(join(root, path), content);
  }
  const at = (name: string) => join(root, name);
  return measureOverlap(
    {
      ...{ workspace: at("workspace"), attachments: at("attachments") },
      ...{ submission: at("submission"), trajectory: at("trajectory.jsonl") },
    },
    { private: at("private"), public: at("public") },
    { measure, scratch: at("scratch"), unpackedBytesMax: 2 ** 20, ...more },
  );
}

const kinds = ({ places }: { places: { kind: string; place: string; rows: number }[] }) =>
  places.map(({ kind, place, rows }) => [kind, place, rows]);

test("an honest attempt has no overlap, and nothing of it is unread", async (t) => {
  const found = await measured(t, {
    "workspace/files/workspace/train.py": "import torch  # train on what is given\n",
  });
  assert.deepEqual(found.rows, { all: 3, tested: 3, touched: 0, found: 0 });
  assert.deepEqual([found.places, found.unread, found.downloads], [[], [], { files: 0, read: 0 }]);
});

test("a copied row is found wherever it is held: files, archives, events, long texts, added tokens", async (t) => {
  const found = await measured(
    t,
    {
      "workspace/files/workspace/a.py": `DATA = ["${rows[0]}"]`,
      "workspace/files/home/cache.arrow": `ARROW1\0\0${rows[2]}\0`,
      "workspace/files/home/b.jsonl.gz": gzipSync(JSON.stringify({ text: rows[1] })),
      "submission/tokenizer.json": JSON.stringify({ added_tokens: [{ id: 5, content: rows[2] }] }),
      [`attachments/${"a".repeat(64)}`]: `output: ${rows[0]}`,
    },
    [{ event: "start" }, { event: "tool-call", input: JSON.stringify({ command: `echo "${rows[1]}" > x` }) }],
  );
  assert.equal(found.rows.found, 3);
  assert.deepEqual(kinds(found).sort(), [
    ["attachment", "a".repeat(64), 1],
    ["submission", "tokenizer.json", 1],
    ["trajectory", "2", 1],
    ["workspace", "home/b.jsonl.gz", 1],
    ["workspace", "home/cache.arrow", 1],
    ["workspace", "workspace/a.py", 1],
  ]);
  assert.doesNotMatch(JSON.stringify(found), /ferry|kettle|bridge/, "counts and places, never a text");
});

const twoAndOne = rows.slice(0, 2).join("\n");
const noise = (bytes: number) =>
  Buffer.from(Float32Array.from({ length: bytes / 4 }, (_, at) => Math.sin(at) / 50).buffer);
const safetensors = (header: string) => {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, Buffer.from(header)]);
};
const values = (bytes: number) => `"w":{"dtype":"U8","shape":[${bytes}],"data_offsets":[0,${bytes}]}`;
const wide = Buffer.from(twoAndOne, "utf16le");
const tarOf = (...members: Buffer[]) => {
  const all = pack();
  for (const [at, member] of members.entries()) all.entry({ name: `${at}.txt` }, member);
  all.finalize();
  return Array.fromAsync(all).then((pieces) => Buffer.concat(pieces as Buffer[]));
};
const hidden: Record<string, () => Buffer | Promise<Buffer>> = {
  "values of weights": () =>
    Buffer.concat([safetensors(`{${values(twoAndOne.length)}}`), Buffer.from(twoAndOne)]),
  "the header of weights": () => safetensors(JSON.stringify({ __metadata__: { a: twoAndOne } })),
  "a text with the first bytes of weights": () => Buffer.concat([safetensors("{}"), Buffer.from(twoAndOne)]),
  "an image": () => Buffer.concat([Buffer.from("\x89PNG\r\n\0", "latin1"), Buffer.from(twoAndOne)]),
  "a text after the mark of UTF-16": () => Buffer.from(`\xff\xfe${twoAndOne}`, "latin1"),
  "UTF-16 after a long ASCII text": () => Buffer.concat([Buffer.alloc(1 << 17, "x\n"), wide]),
  "UTF-16 in a binary file": () => Buffer.concat([noise(1 << 17), wide]),
  "UTF-32 with a mark": () =>
    Buffer.concat([
      Buffer.from([0xff, 0xfe, 0, 0]),
      ...[...twoAndOne].map((one) => Buffer.from([one.charCodeAt(0), 0, 0, 0])),
    ]),
  "a text after gzip": () => Buffer.concat([gzipSync("x"), Buffer.from(`\n${twoAndOne}`)]),
  "a text between the members of a ZIP": () => Buffer.concat([storedZip({ a: "x" }), Buffer.from(twoAndOne)]),
  "an object of Git": () => deflateSync(`blob 9\0${twoAndOne}`),
  "an image in a packed tar": async () =>
    gzipSync(await tarOf(Buffer.concat([Buffer.from("\x89PNG\r\n\0", "latin1"), Buffer.from(twoAndOne)]))),
  "a tensor in a checkpoint of torch": () =>
    storedZip({ "m/data.pkl": "pickle", "m/data/0": Buffer.concat([noise(64), Buffer.from(twoAndOne)]) }),
};

for (const [what, content] of Object.entries(hidden))
  test(`rows are found in ${what}`, async (t) => {
    const found = await measured(t, { "workspace/files/workspace/x": await content() });
    assert.equal(found.rows.found, 2);
  });

test("rows are found in names of files and in the lists of an event", async (t) => {
  const events = [{ event: "tool-call", input: { words: rows[1]!.split(" ") } }];
  const name = `workspace/files/tmp/${rows[0]!.replaceAll(" ", "_")}`;
  const found = await measured(t, { [name]: "" }, events);
  assert.deepEqual(
    kinds(found)
      .map(([kind]) => kind)
      .sort(),
    ["trajectory", "workspace"],
  );
  assert.equal(found.rows.found, 2);
});

const damage = (content: Buffer, from: number, to = from + 4) => Buffer.from(content).fill(0xff, from, to);
const long = Buffer.from(
  `${twoAndOne}\n${Array.from({ length: 30_000 }, (_, at) => `${at} ${at ** 3}`).join("\n")}`,
);
const deflated = (name: string, content: Buffer) => {
  const zipped = deflateRawSync(content);
  const header = Buffer.alloc(30);
  header.write("PK\x03\x04\x14\0\0\0\x08", "latin1");
  header.writeUInt32LE(zipped.length, 18);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, Buffer.from(name), zipped]);
};
/** Two groups of rows: damage in the first is after one scored row, and the second ends with another. */
function damagedParquet(): Buffer {
  const data = [rows[0]!, ...long.toString().split("\n").slice(2), rows[1]!];
  const columnData = [{ name: "q", data, type: "STRING" as const }];
  const sizes = { rowGroupSize: 20_000, pageSize: 1 << 16 };
  const all = Buffer.from(parquetWriteBuffer({ columnData, codec: "SNAPPY", ...sizes }));
  return damage(all, all.length >> 2, (all.length >> 2) + 3000);
}
const damaged: Record<string, () => Buffer | Promise<Buffer>> = {
  "gzip with a wrong checksum": () => damage(gzipSync(twoAndOne), gzipSync(twoAndOne).length - 8),
  "gzip that ends too early": () => gzipSync(long).subarray(0, 9000),
  "gzip with a wrong block": () => damage(gzipSync(long), 9000, 9999),
  "zstd that ends too early": () => zstdCompressSync(long).subarray(0, zstdCompressSync(long).length - 9),
  "tar that ends too early": async () => (await tarOf(long)).subarray(0, 9000),
  "tar with a wrong header": async () => damage(await tarOf(gzipSync(twoAndOne), long), 1024, 1100),
  "packed tar that ends too early": async () => gzipSync(await tarOf(long)).subarray(0, 9000),
  "ZIP without its directory": () =>
    Buffer.concat([deflated("a", Buffer.from(twoAndOne)), Buffer.from("PK\x05\x06")]),
  "a Parquet file": damagedParquet,
};

for (const [what, content] of Object.entries(damaged))
  test(`rows before the damage of ${what} are found, and the file is listed`, async (t) => {
    const found = await measured(t, { "workspace/files/workspace/x": await content() });
    assert.equal(found.rows.found, 2);
    assert.deepEqual(found.unread, [{ place: "workspace/x", why: "it is damaged" }]);
  });

test("a damaged or encrypted member of a ZIP hides no member that follows", async (t) => {
  const zip = storedZip({ "a.gz": damage(gzipSync("xxxxxxxxxxxxxx"), 12), "b.gz": gzipSync(twoAndOne) });
  const encrypted = Buffer.from(zip);
  const entry = encrypted.indexOf("PK\x01\x02");
  encrypted[entry + 8]! |= 1;
  encrypted[entry + 24]! -= 12; // the key takes twelve bytes
  const found = await measured(t, {
    "workspace/files/workspace/a.zip": zip,
    "workspace/files/workspace/b.zip": encrypted,
  });
  assert.equal(found.rows.found, 2);
  assert.deepEqual(
    kinds(found).map(([, place, rows]) => [place, rows]),
    [
      ["workspace/a.zip", 2],
      ["workspace/b.zip", 2],
    ],
  );
  assert.deepEqual(found.unread, [
    { place: "workspace/a.zip", why: "it is damaged" },
    { place: "workspace/b.zip", why: "an encrypted archive" },
  ]);
});

test("rows that were found before an archive took too much count", async (t) => {
  const bomb = gzipSync(Buffer.alloc(2 ** 21));
  const found = await measured(t, {
    "workspace/files/workspace/x": await tarOf(gzipSync(twoAndOne), gzipSync(bomb)),
  });
  assert.equal(found.rows.found, 2);
  assert.match(found.unread[0]!.why, /more than \d+ bytes when unpacked/);
});

test("large weights are not read whole, and a large text that begins like them is searched", async (t) => {
  const bytes = 17 << 20;
  const weights = Buffer.concat([safetensors(`{${values(bytes)}}`), noise(bytes)]);
  const text = Buffer.concat([
    safetensors(`{${values(bytes)}}`),
    Buffer.alloc(bytes, `${twoAndOne} The quick brown fox jumps over the lazy dog. `),
  ]);
  const found = await measured(t, { "submission/a.safetensors": weights, "submission/b.safetensors": text });
  assert.deepEqual(kinds(found), [["submission", "b.safetensors", 2]]);
  assert.ok(found.unread.every(({ place }) => place !== "submission/a.safetensors"));
});

test("parts of a row in several places count together", async (t) => {
  const words = rows[0]!.split(" ");
  const found = await measured(t, {
    "workspace/files/workspace/a.txt": words.slice(0, 11).join(" "),
    "workspace/files/workspace/b.txt": words.slice(4).join(" "),
  });
  assert.equal(found.rows.found, 1);
  assert.deepEqual(
    found.places.map(({ rows }) => rows),
    [1, 0],
  );
});

test("what cannot be read is said: texts that were not kept, closed archives, packed noise", async (t) => {
  const bomb = gzipSync(Buffer.alloc(2 ** 20 + 1));
  const leftOut = [
    { path: "corpus.txt", why: "too large" },
    { path: "plot.png", why: "no text: media" },
    { path: "hub/snapshots/main/train.arrow", why: "symbolic link" },
    { path: "wandb", why: "socket" },
  ];
  const kept = { folder: "workspace", files: 0, bytes: 0, leftOut, leftOutMore: 2, textBytesLeftOut: 9 };
  const found = await measured(t, {
    "workspace/index.json": JSON.stringify({ formatVersion: 1, folders: [kept] }),
    "workspace/files/workspace/x.7z": Buffer.from("7z\xbc\xaf\x27\x1c rows", "latin1"),
    "workspace/files/workspace/y.gz": bomb,
    "workspace/files/workspace/w.gz": gzipSync(`BZh${rows[0]}`),
    "workspace/files/workspace/z.parquet": "PAR1 not a table",
  });
  assert.deepEqual(
    found.unread.map(({ place, why }) => `${place}: ${why.replace(/\d{6,}/, "N")}`),
    [
      "workspace/corpus.txt: too large",
      "workspace: 2 more files are not kept",
      "workspace/w.gz: it holds a compressed format that cannot be opened here",
      "workspace/x.7z: a compressed format that cannot be opened here",
      "workspace/y.gz: more than N bytes when unpacked",
      "workspace/z.parquet: it is damaged",
    ],
  );
});

test("compressed and encrypted bytes without a name are listed, and numbers are not", async (t) => {
  const prose = ["guide", "measures", "machines", "statistics"].map((name) =>
    readFileSync(sourceFile(`docs/${name}.md`)),
  );
  const cipher = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
  const { unread } = await measured(t, {
    "workspace/files/workspace/a.br": brotliCompressSync(Buffer.concat(prose)),
    "workspace/files/workspace/b.enc": cipher.update(long),
    "workspace/files/workspace/c.npy": Buffer.concat([
      Buffer.from("\x93NUMPY\x01\0", "latin1"),
      noise(1 << 20),
    ]),
    "workspace/files/workspace/d.tokens": Buffer.from(
      Uint16Array.from({ length: 1e5 }, (_, at) => (at * at) % 50257).buffer,
    ),
    "submission/model.safetensors": Buffer.concat([safetensors(`{${values(1 << 20)}}`), noise(1 << 20)]),
  });
  const why = "it holds a compressed format that cannot be opened here";
  assert.deepEqual(unread, [
    { place: "workspace/a.br", why },
    { place: "workspace/b.enc", why },
  ]);
});

test("a workspace that was not kept is said", async (t) => {
  const { unread } = await measured(t, { "workspace/index.json": undefined });
  assert.deepEqual(unread, [{ place: "workspace", why: "not kept" }]);
});

test("recorded downloads are counted, and those whose bytes are still there", async (t) => {
  const download = (digest: string) => ({
    ...{
      event: "download",
      from: "dataset",
      id: "a/b",
      revision: "r",
      path: "x",
      bytes: 3,
      cached: false,
      digest,
    },
  });
  const text = "three small words";
  const digest = createHash("sha256").update(text).digest("hex");
  const events = [download(digest), download("b".repeat(64)), download(digest)];
  const found = await measured(t, { "workspace/files/home/hub/x.txt": text }, events);
  assert.deepEqual(found.downloads, { files: 2, read: 1 });
});

test("a text that ends like a ZIP file is searched, and what opens no ZIP is listed", async (t) => {
  const found = await measured(t, {
    "workspace/files/workspace/a.txt": `${rows.join("\n")}\nPK\x05\x06\n`,
    "workspace/files/workspace/b.txt": `PK\x05\x06${"a".repeat(30)}`.padStart(100),
  });
  assert.equal(found.rows.found, 3);
  const damaged = (place: string) => ({ place, why: "it is damaged" });
  assert.deepEqual(found.unread, [damaged("workspace/a.txt"), damaged("workspace/b.txt")]);
});

test("archives share a time, and those after it are listed", async (t) => {
  const files = {
    "workspace/files/tmp/a.gz": gzipSync(rows[0]!),
    "workspace/files/tmp/b.gz": gzipSync(rows[1]!),
  };
  const found = await measured(t, files, [], { packedAllMs: 1 });
  assert.equal(found.rows.found, 1);
  assert.deepEqual(found.unread, [{ place: "tmp/b.gz", why: "archives and tables take too long together" }]);
});
