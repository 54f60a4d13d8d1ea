import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
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
