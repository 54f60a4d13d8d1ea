import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readForeignTrajectory } from "./foreign-extract.ts";

const folder = mkdtempSync(join(tmpdir(), "foreign-extract-"));
after(() => rmSync(folder, { recursive: true }));

async function read(text: string) {
  const path = join(folder, "file");
  writeFileSync(path, text);
  const reading = await readForeignTrajectory(path);
  return reading.kind === "ok" ? reading.value.events.map((one) => one.text).join("|") : reading.cause;
}

const samples = [
  { messages: [{ role: "user", content: "Go to NaN,\nplease." }], scores: { loss: Number.NaN } },
];
const log = { version: 2, eval: {}, samples };

test("a log of Inspect and a trajectory of ATIF are told apart by what they hold", async () => {
  assert.equal(await read(JSON.stringify(log)), "user:\nGo to NaN,\nplease.");
  const steps = [{ source: "user", message: "Go." }];
  assert.equal(await read(JSON.stringify({ schema_version: "ATIF-v1.6", steps })), "user:\nGo.");
  assert.match(await read(JSON.stringify({ ...log, version: 1 })), /Inspect of version 2/);
  assert.match(await read(JSON.stringify({ steps })), /ATIF 1\.x/);
});

test("numbers that Inspect writes and JSON has not, do no harm, and texts keep them", async () => {
  for (const number of ["NaN", "Infinity", "-Infinity"]) {
    const text = JSON.stringify(log, null, 2).replace("null", number);
    assert.ok(text.includes(`"loss": ${number}\n`));
    assert.equal(await read(text), "user:\nGo to NaN,\nplease.");
  }
});

test("a zip and what is no JSON are problems with the way out", async () => {
  assert.match(await read("PK\u0003\u0004header.json"), /zip; .*`inspect log dump` makes JSON/);
  assert.match(await read("{"), /neither a trajectory of ATIF 1.x nor a log of Inspect, as JSON/);
});
