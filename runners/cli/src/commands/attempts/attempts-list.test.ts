import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { attemptsList } from "./attempts-list.ts";

test("a list names each damaged attempt without a record, running or lost", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-list-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const place of ["running", "lost"]) {
    const folder = join(root, ".mlrb/attempts", place, `${place}-one`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "attempt.json"), '{"formatVersion":1}');
  }
  const lines: string[] = [];
  t.mock.method(process.stdout, "write", (text: string) => lines.push(text) > 0);
  attemptsList(root, [], { root, json: false });
  const text = lines.join("");
  t.mock.restoreAll();
  assert.match(
    text,
    /damaged {7}\.mlrb\/attempts\/running\/running-one has an attempt\.json .* is missing; /,
  );
  assert.match(text, /damaged {7}\.mlrb\/attempts\/lost\/lost-one has/);
  assert.match(text, /0 attempts, 2 damaged\n/);
});
