import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hashFiles } from "./hash-files.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-hash-"));
after(() => rmSync(folder, { recursive: true }));

test("many more files than threads get the same digests as files hashed one by one", async () => {
  const texts = Array.from({ length: 40 }, (_, at) => `content of file ${at}`);
  const paths = texts.map((text, at) => {
    writeFileSync(join(folder, `${at}`), text);
    return join(folder, `${at}`);
  });
  const found = await hashFiles(paths);
  const wanted = texts.map((text, at) => [paths[at], createHash("sha256").update(text).digest("hex")]);
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(wanted));
});

test("the error of an unreadable file names that file, whatever other files are hashed", async () => {
  const paths = Array.from({ length: 20 }, (_, at) => join(folder, at === 13 ? "none" : `${at}`));
  await assert.rejects(hashFiles(paths), { code: "ENOENT", message: /none/ });
});
