import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetMetadata } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { pack } from "tar-stream";
import { storedZip } from "../../../../../tests/support/servers/wheel.ts";
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
    rowsIn(Buffer.concat([Buffer.from("#!/bin/sh\n"), storedZip({ b: secret })]), { strict: false }),
    /central directory/,
  );
  let deep = Buffer.from(secret);
  for (let depth = 0; depth < 7; depth++) deep = gzipSync(deep);
  await assert.rejects(rowsIn(deep), /packed more than/);
});

test("a package may hold small files that cannot be opened; a data set, or a file of its own, may not", async () => {
  const closed = (bytes: number) =>
    Buffer.concat([Buffer.from("BZh91AY", "latin1"), Buffer.alloc(bytes, "x")]);
  const wheel = storedZip({ "tests/a.bz2": closed(9e4), "tests/b.bz2": closed(9e4), "c.txt": secret });
  assert.equal(await rowsIn(wheel, { strict: false }), 1);
  const rest = await tar("tests/a.xz", Buffer.from("\xfd7zXZ\0rest", "latin1"));
  assert.equal(await rowsIn(gzipSync(rest), { strict: false }), 0);
  await assert.rejects(rowsIn(wheel), /cannot be opened here/);
  await assert.rejects(rowsIn(closed(9), { strict: false }), /cannot be opened here/);
  const many = storedZip({ "a.bz2": closed(6e5), "b.bz2": closed(6e5) });
  await assert.rejects(rowsIn(many, { strict: false }), /over 1048576 bytes in compressed formats/);
});

test("a text that begins like a medium is searched, and so is a medium in a data set", async () => {
  for (const begin of ["ID3,question\n1,", "GIF8\n", '["x"ftyp"] ', "RIFF....WAVE ", "OggS "]) {
    const text = Buffer.from(`${begin}${secret}`);
    for (const strict of [true, false]) assert.equal(await rowsIn(text, { strict }), 1, begin);
  }
  assert.equal(await rowsIn(Buffer.from(`\x7fELF\0\0${secret}`)), 1);
});

test("UTF-32 is not readable in a data set", async () => {
  const mark = Buffer.from([0xff, 0xfe, 0, 0]);
  const text = Buffer.concat([mark, ...[...secret].map((one) => Buffer.from([one.charCodeAt(0), 0, 0, 0]))]);
  await assert.rejects(rowsIn(text), /binary content/);
  await assert.rejects(rowsIn(text.subarray(4)), /binary content/);
  await assert.rejects(rowsIn(Buffer.from(text).swap32()), /binary content/);
});

function safetensors(header: object, values: string): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.from(values)]);
}

test("values are not searched only if the header of safetensors covers them without a gap to the end of the file", async () => {
  const open = { strict: false };
  const header = (end: unknown) => ({ w: { dtype: "U8", shape: [secret.length], data_offsets: [0, end] } });
  const weights = safetensors(header(secret.length), secret);
  assert.equal(await rowsIn(weights, open), 0);
  assert.equal(await rowsIn(storedZip({ "m.safetensors": weights }), open), 0);
  assert.equal(await rowsIn(safetensors({ __metadata__: { a: secret }, ...header(0) }, ""), open), 1);
  for (const end of [0, secret.length - 1, secret.length + 1, "x", null])
    assert.equal(await rowsIn(safetensors(header(end), secret), open), 1, String(end));
  const at = (place: number) => ({ dtype: "U8", shape: [1], data_offsets: [place, place + 1] });
  assert.equal(await rowsIn(safetensors({ a: at(secret.length + 1) }, `${secret} x`), open), 1);
  assert.equal(await rowsIn(safetensors({ a: at(0), b: at(secret.length + 2) }, `x ${secret} x`), open), 1);
  assert.equal(await rowsIn(safetensors({ a: 1 }, secret), open), 1);
  assert.equal(await rowsIn(Buffer.from(`\x14\0\0\0\0\0\0\0{"a":1}            ${secret}`), open), 1);
  await assert.rejects(rowsIn(weights), /binary content/);
});

test("binary values of a torch checkpoint are not searched; texts under their names are", async () => {
  const open = { strict: false };
  const values = `\0\x01\x02\0\0 ${secret}`;
  const pickle = { "m/data.pkl": "pickle" };
  assert.equal(await rowsIn(storedZip({ ...pickle, "m/data/0": values }), open), 0);
  assert.equal(await rowsIn(storedZip({ ...pickle, "m/data/0": secret }), open), 1);
  assert.equal(await rowsIn(storedZip({ ...pickle, "m/data/x": values }), open), 1);
  assert.equal(await rowsIn(storedZip({ "m/data/0": values }), open), 1);
  await assert.rejects(rowsIn(storedZip({ ...pickle, "m/data/0": values })), /binary content/);
});

test("every row group of a Parquet file is searched, whatever number of rows the file declares", async () => {
  const data = Array.from({ length: 50 }, (_, at) => (at === 44 ? secret : `row ${at}`));
  const columnData = [{ name: "q", data, type: "STRING" as const }];
  const file = Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 7 }));
  assert.equal(await rowsIn(file), 1);
  // the field with the number of all rows: 50, zigzag-encoded
  const count = file.indexOf(Buffer.from([0x16, 100]));
  file[count + 1] = 0;
  assert.equal(parquetMetadata(new Uint8Array(file).buffer).num_rows, 0n);
  assert.equal(await rowsIn(file), 1);
});
