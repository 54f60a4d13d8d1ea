import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { admit } from "./admit-submission.ts";
import { readingLimits } from "./reading-limits.ts";
import { writeCase } from "./testing/hostile-case.ts";
import { hostileCorpus } from "./testing/hostile-corpus.ts";

const root = mkdtempSync(join(tmpdir(), "hostile-"));
after(() => rmSync(root, { recursive: true, force: true }));

const { reasonsPerCode, reasonChars } = readingLimits;

test("the corpus has at least 120 cases, each with its own name", () => {
  const names = new Set(hostileCorpus.map(({ name }) => name));
  assert.equal(names.size, hostileCorpus.length);
  assert.ok(names.size >= 120, `${names.size} cases`);
});

// the large cases are in hostile-corpus.thorough.test.ts
for (const hostile of hostileCorpus.filter(({ large }) => !large)) {
  const { name, codes } = hostile;
  test(`${name} is ${codes.length === 0 ? "admitted" : `rejected: ${codes.join(", ")}`}`, (t) => {
    const { folder, skipped } = writeCase(root, hostile);
    if (skipped !== undefined) return t.skip(skipped);
    const { admitted, reasons } = admit(folder);
    assert.deepEqual([...new Set(reasons.map(({ code }) => code))].sort(), codes, JSON.stringify(reasons));
    assert.equal(admitted, codes.length === 0);
    assert.ok(reasons.length <= 20 * (reasonsPerCode.max + 1));
    for (const { detail } of reasons) {
      assert.ok(detail.length <= reasonChars.max);
      assert.doesNotMatch(detail, /[\p{Cc}\u202e]/u);
    }
    rmSync(folder, { recursive: true, force: true });
  });
}
