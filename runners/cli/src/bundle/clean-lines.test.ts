import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { copyCleanLines } from "./clean-lines.ts";

test("only what the cleaner changes differs: other line ends, torn lines, long lines and broken UTF-8 stay", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lines-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  const long = "x".repeat(200_000);
  const text = `{"a":"\u2028\u2029\r"}\r\n\n${long} key ${long}\n{"torn`;
  writeFileSync(from, Buffer.concat([Buffer.from(text), Buffer.of(0xff)]));
  assert.equal(await copyCleanLines(from, to, (line) => line), false);
  assert.ok(readFileSync(to).equals(readFileSync(from)));
  assert.equal(await copyCleanLines(from, to, (line) => line.replace("key", "[redacted]")), true);
  const wanted = Buffer.concat([Buffer.from(text.replace("key", "[redacted]")), Buffer.of(0xff)]);
  assert.ok(readFileSync(to).equals(wanted));
});
