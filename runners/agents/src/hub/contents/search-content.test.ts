import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { pack } from "tar-stream";
import { storedZip } from "../../../../../tests/support/wheel.ts";
import { RowIndex, RowSearch } from "./row-search.ts";
import { searchFile } from "./search-content.ts";
import { withheldRows } from "./withheld-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "search-content-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const secret = "Which of the nine invented moons of Quell is the one that turns backwards";
const index = new RowIndex(withheldRows([[secret]]));

async function rowsIn(content: Buffer, { strict = true, bytesMax = 1 << 24 } = {}): Promise<number> {
  const path = join(folder, "file");
  writeFileSync(path, content);
  const search = new RowSearch(index);
  await searchFile(path, { search, scratch: folder, strict, bytesMax });
  return search.rowsFound();
}

function tar(name: string, content: string | Buffer): Promise<Buffer> {
  const packed = pack();
  packed.entry({ name }, content);
  packed.finalize();
  return Array.fromAsync(packed).then((pieces) => Buffer.concat(pieces as Buffer[]));
}

const parquet = (codec: "SNAPPY" | "UNCOMPRESSED") =>
  Buffer.from(
    parquetWriteBuffer({ columnData: [{ name: "q", data: ["x", secret], type: "STRING" }], codec }),
  );

test("a row is found in every container, and in containers in containers, whatever the file is called", async () => {
  const text = Buffer.from(`${secret}?\n`);
  const all = {
    text,
    gzip: gzipSync(text),
    "two members of gzip": Buffer.concat([gzipSync("a\n"), gzipSync(text)]),
    zstd: zstdCompressSync(text),
    zip: storedZip({ "a/b.csv": text }),
    "zip in a zip": storedZip({ "a.zip": storedZip({ "b.csv": text }) }),
    tar: await tar("a/b.txt", text),
    "tar.gz of gzip": gzipSync(await tar("a.gz", gzipSync(text))),
    parquet: parquet("SNAPPY"),
    "parquet in a tar": await tar("a.parquet", parquet("UNCOMPRESSED")),
    "a name in a tar": await tar(`${secret.replaceAll(" ", "-")}`.slice(0, 99), "x"),
    "utf-16": Buffer.from(`\ufeff${secret}`, "utf16le"),
    "utf-16 without a mark": Buffer.from(secret, "utf16le"),
  };
  for (const [what, content] of Object.entries(all)) assert.equal(await rowsIn(content), 1, what);
});

test("what cannot be opened is unreadable, and a data set of unknown bytes too", async () => {
  const noise = Buffer.from([1, 0, 2, 0, 0, 3, 200, 0, 0, 0, 7, 0]);
  for (const content of [
    Buffer.from("BZh91AY", "latin1"),
    Buffer.from("7z\xbc\xaf\x27\x1c..", "latin1"),
    noise,
  ])
    await assert.rejects(rowsIn(content), /cannot be opened here|binary content/);
  assert.equal(await rowsIn(noise, { strict: false }), 0);
  await assert.rejects(
    rowsIn(gzipSync("a b ".repeat(1 << 18)), { bytesMax: 1 << 16 }),
    /more than 65536 bytes when unpacked/,
  );
  await assert.rejects(rowsIn(parquet("SNAPPY").subarray(0, 40)));
  // programs open it as an archive, and the library here does not
  await assert.rejects(
    rowsIn(Buffer.concat([Buffer.from("#!/bin/sh\n"), storedZip({ b: secret })])),
    /central directory/,
  );
  let deep = Buffer.from(secret);
  for (let depth = 0; depth < 7; depth++) deep = gzipSync(deep);
  await assert.rejects(rowsIn(deep), /packed more than/);
});
