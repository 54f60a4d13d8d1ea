import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { ActionCache, type ActionEntry } from "./action-cache.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "mlrb-actions-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

const keyOf = (number: number) => number.toString(16).padStart(64, "0");

function entry(number: number, text = "x"): ActionEntry {
  const ran = { run: "r", stage: text, startedAt: "then", durationMs: number, executor: "local", host: "h" };
  const parts = { axes: { text } } as unknown as ActionEntry["parts"];
  return { formatVersion: 1, key: keyOf(number), parts, codeFiles: "c", outputs: {}, ran };
}

const log = (path: string) => join(path, readdirSync(path)[0]!);

test("an entry that one cache puts is found by another, even one that was opened before", (t) => {
  const path = folder(t);
  const [one, other] = [new ActionCache(path), new ActionCache(path)];
  assert.equal(other.get(keyOf(1)), undefined);
  one.put(entry(1, "with\nlines and ünïcode"));
  other.put(entry(2));
  assert.deepEqual(one.get(keyOf(1)), entry(1, "with\nlines and ünïcode"));
  one.refresh();
  other.refresh();
  assert.deepEqual(one.get(keyOf(2)), entry(2));
  assert.deepEqual(other.get(keyOf(1)), entry(1, "with\nlines and ünïcode"));
  assert.deepEqual(new ActionCache(path).keys().sort(), [keyOf(1), keyOf(2)]);
});

test("a cache does not read back what it put, and misses nothing that another put before or after that", (t) => {
  const path = folder(t);
  const [one, other] = [new ActionCache(path), new ActionCache(path)];
  one.put(entry(1));
  one.refresh();
  one.put(entry(2));
  const held = readFileSync(log(path), "utf8");
  writeFileSync(log(path), held.replace(keyOf(2), keyOf(3)), { flag: "r+" });
  one.refresh();
  assert.deepEqual([one.get(keyOf(2)), one.get(keyOf(3))], [entry(2), undefined]);
  other.put(entry(4));
  one.put(entry(5));
  other.put(entry(6));
  one.refresh();
  assert.deepEqual([one.get(keyOf(4)), one.get(keyOf(5)), one.get(keyOf(6))], [entry(4), entry(5), entry(6)]);
});

test("for one key, the entry that was put last counts", (t) => {
  const path = folder(t);
  const cache = new ActionCache(path);
  cache.put(entry(1, "old"));
  cache.put(entry(1, "new"));
  assert.deepEqual(new ActionCache(path).get(keyOf(1)), entry(1, "new"));
});

test("a torn or changed line loses its own entry and no other", (t) => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (where, change, tear) => {
      const path = folder(t);
      const cache = new ActionCache(path);
      for (const number of [1, 2, 3]) cache.put(entry(number));
      const bytes = readFileSync(log(path));
      const at = where % bytes.length;
      if (tear) writeFileSync(log(path), bytes.subarray(0, at));
      else writeFileSync(log(path), Buffer.from(bytes).fill(bytes[at]! ^ change, at, at + 1));
      new ActionCache(path).put(entry(4));
      const again = new ActionCache(path);
      const lost = [1, 2, 3].filter((number) => again.get(keyOf(number)) === undefined);
      if (!tear) assert(lost.length <= 2, "a lost line break may join two");
      for (const number of [1, 2, 3])
        if (!lost.includes(number)) assert.deepEqual(again.get(keyOf(number)), entry(number));
      assert.deepEqual(again.get(keyOf(4)), entry(4), "what comes after is whole");
    }),
    { numRuns: 300 },
  );
});

test("a line that is still being written is read once it is complete", (t) => {
  const path = folder(t);
  new ActionCache(path).put(entry(1));
  const line = readFileSync(log(path));
  writeFileSync(log(path), line.subarray(0, 50));
  const reader = new ActionCache(path);
  assert.equal(reader.get(keyOf(1)), undefined);
  appendFileSync(log(path), line.subarray(50));
  reader.refresh();
  assert.deepEqual(reader.get(keyOf(1)), entry(1));
});

test("logs of other hosts are read, and retain leaves one log with the requested entries", (t) => {
  const path = folder(t);
  const cache = new ActionCache(path);
  for (const number of [1, 2]) cache.put(entry(number));
  const other = join(path, "another-host.log");
  writeFileSync(other, readFileSync(log(path)));
  cache.put(entry(3));
  writeFileSync(
    log(path),
    readFileSync(join(path, readdirSync(path).find((name) => name !== "another-host.log")!)),
  );
  const reader = new ActionCache(path);
  assert.deepEqual(reader.keys().sort(), [1, 2, 3].map(keyOf));
  assert.equal(reader.retain(new Set([keyOf(1), keyOf(9)])), 2);
  assert.deepEqual(reader.keys(), [keyOf(1)]);
  assert.deepEqual(reader.get(keyOf(1)), entry(1));
  assert.equal(readdirSync(path).length, 1);
});

test("a cache that was deleted meanwhile starts empty", (t) => {
  const path = folder(t);
  const cache = new ActionCache(path);
  cache.put(entry(1));
  rmSync(path, { recursive: true });
  cache.put(entry(2));
  assert.deepEqual(new ActionCache(path).keys(), [keyOf(2)]);
});
