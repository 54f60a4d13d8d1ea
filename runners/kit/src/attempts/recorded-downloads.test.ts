import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { recordedDownloads } from "./recorded-downloads.ts";

const folder = mkdtempSync(join(tmpdir(), "recorded-downloads-"));
after(() => rmSync(folder, { recursive: true }));

function read(...events: TrajectoryEvent[]) {
  const path = join(folder, "trajectory.jsonl");
  writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  return recordedDownloads(path);
}

const start = exampleEvent("start", { network: "hub", sandbox: "bubblewrap" });

test("files of one repository are one entry, with weights if any file can hold them, and small packages are left out", async () => {
  const found = await read(
    start,
    exampleEvent("download", { id: "lab/m", path: "config.json", createdAt: "2024-01-01" }),
    exampleEvent("download", { id: "lab/m", path: "model.safetensors", parameters: 5 }),
    exampleEvent("download", { from: "package", id: "numpy", path: "numpy.whl" }),
    exampleEvent("download", { from: "dataset", id: "lab/d", path: "train.parquet" }),
    exampleEvent("download-refused"),
  );
  assert.deepEqual(
    found!.map(({ files: _, ...repository }) => repository),
    [
      { from: "model", id: "lab/m", weights: true, createdAt: "2024-01-01", parameters: 5 },
      { from: "dataset", id: "lab/d", weights: false },
    ],
  );
});

test("the files of a model are weights by name or by size, and each has its date", async () => {
  const files = await read(
    start,
    download("a.safetensors", 5, { changedAt: "2024-01-01" }),
    download("data.json", 2e7, { changedAt: "2026-01-01" }),
    download("README.md", 5),
    download("paper.pdf", 5),
    download("paper.pdf", 5),
  );
  assert.deepEqual(files![0]!.files, [
    { bytes: 5, kind: "weights", changedAt: "2024-01-01" },
    { bytes: 2e7, kind: "weights", changedAt: "2026-01-01" },
    { bytes: 5, kind: "text" },
    { bytes: 5, kind: "other" },
  ]);
});

const download = (path: string, bytes: number, more = {}) =>
  exampleEvent("download", {
    id: "lab/m",
    path,
    bytes,
    digest: createHash("sha256").update(path).digest("hex"),
    ...more,
  });

test("each file of a model counts as weights, except texts, tokenizers and pictures by name", async () => {
  const entered = async (path: string) => (await read(start, download(path, 5)))![0]!.weights;
  for (const path of [
    ...[
      "config.json",
      "README.md",
      "code/model.py",
      "tokenizer.model",
      "spiece.model",
      "merges.txt",
      "vocab.bpe",
    ],
    ...[
      "model.safetensors.index.json",
      "sentencepiece.bpe.model",
      "images/card.png",
      ".gitattributes",
      "LICENSE",
    ],
  ])
    assert.equal(await entered(path), false, path);
  for (const path of [
    ...["model.safetensors", "rust_model.ot", "model.onnx_data", "model.ckpt.data-00000-of-00001", "weights"],
    ...["model.parquet", "any.model", "a.json.zst", "json"],
  ])
    assert.equal(await entered(path), true, path);
});

test("texts of a model over 10 MB together, and a package or code over 20 MB, are large", async () => {
  const large = async (...events: TrajectoryEvent[]) =>
    (await read(start, ...events))!.map(({ id, large = false }) => `${id} ${large}`);
  assert.deepEqual(await large(download("a.json", 6e6), download("a.json", 6e6)), ["lab/m false"]);
  assert.deepEqual(await large(download("a.json", 6e6), download("b.txt", 6e6)), ["lab/m true"]);
  const [bin, text] = [download("model.bin", 6e9), download("a.json", 2e7)];
  assert.deepEqual(await large(bin, text), ["lab/m false"], "counts as weights already");
  assert.deepEqual(await large(text, bin), ["lab/m false"]);
  const [small, rest] = [
    download("p1.whl", 2e7, { from: "package" }),
    download("p2.whl", 1, { from: "package" }),
  ];
  assert.deepEqual(await large(small), []);
  assert.deepEqual(await large(small, rest), ["lab/m true"]);
  assert.deepEqual(await large(download("archive.tar.gz", 3e7, { from: "code" })), ["lab/m true"]);
  assert.deepEqual(await large(download("train.parquet", 3e9, { from: "dataset" })), ["lab/m false"]);
});

test("a full network, no network, a record without a start and a plain folder say nothing about what entered", async () => {
  const download = exampleEvent("download");
  assert.equal(await read(exampleEvent("start", { network: "full" }), download), undefined);
  assert.equal(await read(exampleEvent("start"), download), undefined);
  assert.equal(await read(exampleEvent("start", { network: "hub", sandbox: "plain" }), download), undefined);
  assert.equal(await read(download), undefined);
});
