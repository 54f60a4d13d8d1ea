import assert from "node:assert/strict";
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

test("files of one repository are one entry, with weights if any file can hold them, and packages are left out", async () => {
  const found = await read(
    start,
    exampleEvent("download", { id: "lab/m", path: "config.json", createdAt: "2024-01-01" }),
    exampleEvent("download", { id: "lab/m", path: "model.safetensors", parameters: 5 }),
    exampleEvent("download", { from: "package", id: "numpy", path: "numpy.whl" }),
    exampleEvent("download", { from: "dataset", id: "lab/d", path: "train.parquet" }),
    exampleEvent("download-refused"),
  );
  assert.deepEqual(found, [
    { from: "model", id: "lab/m", weights: true, createdAt: "2024-01-01", parameters: 5 },
    { from: "dataset", id: "lab/d", weights: false },
  ]);
});

test("a full network, no network, an older record and a plain folder say nothing about what entered", async () => {
  const download = exampleEvent("download");
  assert.equal(await read(exampleEvent("start", { network: "full" }), download), undefined);
  assert.equal(await read(exampleEvent("start"), download), undefined);
  assert.equal(await read(exampleEvent("start", { network: "hub", sandbox: "plain" }), download), undefined);
  assert.equal(await read(download), undefined);
});
