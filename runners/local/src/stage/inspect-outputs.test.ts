import assert from "node:assert/strict";
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Store } from "../store/artifact-store.ts";
import { type IngestOptions, ingestAll } from "../store/ingest-outputs.ts";
import { VerifiedContents } from "../store/verified-contents.ts";

function lab(t: TestContext) {
  const at = mkdtempSync(join(tmpdir(), "mlrb-given-"));
  t.after(() => rmSync(at, { recursive: true, force: true }));
  for (const name of ["blobs", "memory", "out"]) mkdirSync(join(at, name));
  const out = join(at, "out");
  const store = new Store(join(at, "blobs"));
  const take = (options: IngestOptions = {}) =>
    ingestAll(
      [{ name: "all", path: out, kind: "dir" }],
      { store, verified: new VerifiedContents(join(at, "memory")) },
      options,
    );
  const problem = async (options: IngestOptions = {}) => {
    const taken = await take(options);
    assert("problem" in taken, JSON.stringify(taken));
    return taken.problem;
  };
  return { out, store, take, problem, at };
}

test("a name that is not UTF-8 fails the stage, and is shown in ASCII with the way out", async (t) => {
  const { out, problem } = lab(t);
  mkdirSync(join(out, "r\u00e9sum\u00e9"));
  const name = Buffer.concat([
    Buffer.from(join(out, "r\u00e9sum\u00e9/caf")),
    Buffer.from([0xe9]),
    Buffer.from("\n.txt"),
  ]);
  closeSync(openSync(name, "w"));
  assert.equal(
    await problem(),
    'holds "r\\xc3\\xa9sum\\xc3\\xa9/caf\\xe9\\x0a.txt", a name that is not UTF-8; write it under another name',
  );
  assert.match(await problem({ keep: true }), /not UTF-8/);
});

test("names with a newline, a backslash, quotes or other letters are kept as they are", async (t) => {
  const { out, store, take, at } = lab(t);
  const names = ["a\nb", "c\\d", 'e"f', " ", "\u{1f600}", "\u001b[2J", "x".repeat(255)];
  for (const name of names) writeFileSync(join(out, name), `of ${name}`);
  const taken = await take();
  assert("outputs" in taken);
  store.restore(taken.outputs.all!, join(at, "laid"));
  for (const name of names) assert.equal(readFileSync(join(at, "laid", name), "utf8"), `of ${name}`);
});

test("a path that would be too long where it is materialized fails the stage", async (t) => {
  const { out, problem } = lab(t);
  mkdirSync(join(out, ...Array.from({ length: 9 }, () => "d".repeat(240))), { recursive: true });
  assert.match(await problem(), /^holds "ddd.*…, a path of more than 2048 bytes; use shorter names/);
});

test("outputs above the stage's disk limit are refused before any byte is read", async (t) => {
  const { out, problem, take } = lab(t);
  writeFileSync(join(out, "one"), "x".repeat(600));
  linkSync(join(out, "one"), join(out, "same"));
  assert("outputs" in (await take({ bytesMax: 600 })), "two names of one file count once");
  writeFileSync(join(out, "one"), "x".repeat(600));
  writeFileSync(join(out, "two"), "x".repeat(600));
  assert.equal(
    await problem({ bytesMax: 1000 }),
    "takes 1.2 KiB with the others, and limits.disk allows 1000 B",
  );
});

test("a sparse file larger than its disk is refused before any byte is read", async (t) => {
  const { out, problem } = lab(t);
  writeFileSync(join(out, "model"), "");
  truncateSync(join(out, "model"), 8 * 2 ** 40); // the usual file system allows this size, which takes hours to read
  assert.match(
    await problem(),
    /^takes 8\.0 TiB with the others, more than the .* that the disk has for it; .*sparse/,
  );
});

test("an aborted reading of large files ends, and no file is ingested", async (t) => {
  const { out, store, take } = lab(t);
  writeFileSync(join(out, "model"), "");
  truncateSync(join(out, "model"), 3 * 2 ** 30);
  writeFileSync(join(out, "small"), "small");
  const reading = new AbortController();
  const taken = take({ signal: reading.signal });
  setImmediate(() => reading.abort());
  await assert.rejects(taken, { name: "AbortError" });
  assert.equal(readFileSync(join(out, "small"), "utf8"), "small");
  const { digest } = store.put(join(out, "small"), "file");
  assert.ok(store.has(digest));
});
