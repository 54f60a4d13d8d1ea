import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { EvidenceBundle } from "@mlrb/formats/report/evidence-bundle";
import type { Signature } from "@mlrb/local/signatures/ssh-signature";
import { block, headerOf, listName, listText, sealName, sealText } from "./archive-layout.ts";
import { type ArchiveBytes, type Verified, verifyArchive } from "./verify-archive.ts";
import { bundledFile, writeArchive } from "./write-archive.ts";

const contents: Record<string, string> = {
  "manifest.json": '{"members":[]}',
  "members/0000/score": '{"value":1}',
  "members/0001/samples.jsonl": "x\n".repeat(9000),
  "records/empty": "",
  "results/summary.csv": "a,b\r\n".repeat(103).slice(0, 512),
};

/** A small bundle in memory. */
function smallBundle(t: TestContext, sign?: (digest: string) => Signature) {
  const folder = mkdtempSync(join(tmpdir(), "bundle-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const files = Object.keys(contents).map((path) => bundledFile(folder, path, new Map()));
  const about = { formatVersion: 1, pipeline: "p", profile: "smoke", selection: "" } as const;
  const bundle: EvidenceBundle = { ...about, signed: sign !== undefined, files };
  const path = join(folder, "bundle.tar");
  writeArchive(path, { bundle, folder, ...(sign && { sign }) });
  return { path, bundle, bytes: readFileSync(path) };
}

function inMemory(bytes: Buffer): ArchiveBytes {
  return { size: bytes.length, read: (from, length) => bytes.subarray(from, from + length) };
}

const verify = (bytes: Buffer): Verified => verifyArchive(inMemory(bytes));

test("an unchanged bundle has no difference, and tar lists and unpacks its files", (t) => {
  const { path, bytes, bundle } = smallBundle(t);
  const found = verify(bytes);
  assert.equal(found.kind, "read");
  assert.deepEqual(found.differences, []);
  const listed = execFileSync("tar", ["-tf", path], { encoding: "utf8" }).trim().split("\n");
  assert.deepEqual(listed, [listName, sealName, ...bundle.files.map((file) => file.path)]);
  for (const [name, text] of Object.entries(contents))
    assert.equal(execFileSync("tar", ["-xOf", path, name], { encoding: "utf8" }), text);
});

for (const formatVersion of [0, 2])
  test(`a bundle of format ${formatVersion} is refused with the way out`, (t) => {
    const { path, bundle } = smallBundle(t);
    writeArchive(path, { bundle: { ...bundle, formatVersion: formatVersion as 1 }, folder: dirname(path) });
    const found = verify(readFileSync(path));
    assert.ok(found.kind === "unreadable");
    assert.match(
      found.cause,
      new RegExp(`\\(formatVersion is ${formatVersion}, not 1; use the mlrb that wrote it\\)$`),
    );
  });

for (const signed of [false, true])
  test(`each of 1000 random flips of a byte is named with its file and its place, ${signed ? "with" : "without"} a signature`, (t) => {
    const { bytes } = smallBundle(t, signed ? () => ({ kind: "signed", text: "a signature\n" }) : undefined);
    const whole = verify(bytes);
    assert.ok(whole.kind === "read");
    const { entries } = whole;
    const seed = Number(process.env.MLRB_FLIP_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const random = randomOf(seed);
    for (let flip = 0; flip < 1000; flip++) {
      const at = Math.floor(random() * bytes.length);
      const before = bytes[at]!;
      bytes[at] = before ^ (1 + Math.floor(random() * 255));
      const { differences } = verify(bytes);
      const owner = entries.findLast(({ headerAt }) => headerAt <= at)!;
      const end = at >= bytes.length - 2 * block;
      const name = end ? "the end of the archive" : owner.name;
      const around = differences.filter(({ from, to }) => from <= at && at < to);
      const what = `MLRB_FLIP_SEED=${seed}, byte ${at}: ${JSON.stringify(differences)}`;
      assert.deepEqual(
        around.map(({ file }) => file),
        [name],
        what,
      );
      assert.equal(differences.length, 1, what);
      assert.ok(around[0]!.to - around[0]!.from <= 4096, what);
      bytes[at] = before;
    }
  });

test("a bundle that is cut anywhere is not whole", (t) => {
  const { bytes } = smallBundle(t);
  for (let size = 0; size < bytes.length; size += 997) {
    const found = verify(bytes.subarray(0, size));
    assert.ok(found.kind === "unreadable" || found.differences.length > 0, String(size));
  }
  const longer = verify(Buffer.concat([bytes, Buffer.from("more")]));
  assert.deepEqual(longer.differences, [
    { file: "the end of the archive", where: "after it", from: bytes.length, to: bytes.length + 4 },
  ]);
});

test("a list with names that lead out of a folder is refused although its digests are right", (t) => {
  const { bundle } = smallBundle(t);
  for (const path of ["../x", "/etc/passwd", "a/../../b", "a//b", "./a", listName, "a\\b", "x".repeat(100)]) {
    const files = [{ ...bundle.files[0]!, path }];
    const list = Buffer.from(listText({ ...bundle, files }));
    const seal = Buffer.from(sealText(list, undefined));
    const padded = (content: Buffer) =>
      Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)]);
    const found = verify(
      Buffer.concat([
        headerOf(listName, list.length),
        padded(list),
        headerOf(sealName, seal.length),
        padded(seal),
      ]),
    );
    assert.ok(found.kind === "unreadable" && /is no name of a bundled file/.test(found.cause), path);
  }
});

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
