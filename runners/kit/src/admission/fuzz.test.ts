import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { strictJson } from "./admission-json.ts";
import { readingLimits } from "./reading-limits.ts";
import { fuzzTargets, trajectoryAnswer } from "./testing/fuzz-targets.ts";

const { targets, close } = fuzzTargets();
const root = mkdtempSync(join(tmpdir(), "fuzz-trajectory-"));
after(() => {
  close();
  rmSync(root, { recursive: true });
});

const limits = { values: readingLimits.settingsValues };
const parse = (text: string) => strictJson(Buffer.from(text), limits);

for (const { name, honest, words, answer } of targets) {
  // random bytes, and honest files with a part replaced by a word of the format or by random bytes
  const part = fc.oneof(
    fc.constantFrom(...words.map((word) => Buffer.from(word))),
    fc.uint8Array({ maxLength: 20 }),
  );
  const changed = fc
    .tuple(fc.constantFrom(...honest), fc.nat(), fc.nat(12), fc.array(part, { maxLength: 4 }))
    .map(([bytes, at, length, parts]) => {
      const from = at % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, from), ...parts, bytes.subarray(from + length)]);
    });
  test(`${name}: random bytes and changed honest files get the same answer twice`, () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), changed), (bytes) => {
        assert.equal(answer(bytes), answer(bytes));
      }),
      { numRuns: 200 },
    );
  });
}

test("JSON that JSON.parse reads and whose keys differ is read alike", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6, noUnicodeString: false }), fc.nat(4), (text, indent) => {
      // fast-check writes equal keys only once
      const value = JSON.parse(text);
      assert.deepEqual(parse(JSON.stringify(value, null, indent)), { kind: "ok", value });
    }),
    { numRuns: 500 },
  );
});

test("a text that JSON.parse refuses is refused", () => {
  const words = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    '"a"',
    "\\",
    "1",
    "-",
    ".",
    "e5",
    "true",
    "nul",
    " ",
    "\\u00",
  ];
  const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (candidate) => {
      let value: unknown;
      try {
        value = JSON.parse(candidate);
      } catch {
        assert.equal(parse(candidate).kind, "malformed");
        return;
      }
      const read = parse(candidate);
      if (read.kind === "ok") assert.deepEqual(read.value, value);
      else assert.match(read.reason, /appears twice|larger than a double/);
    }),
    { numRuns: 3000 },
  );
});

test("trajectories: no bytes make the check throw, or answer differently twice", async () => {
  const path = join(root, "trajectory.jsonl");
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      assert.equal(await trajectoryAnswer(path, bytes), await trajectoryAnswer(path, bytes));
    }),
    { numRuns: 100 },
  );
});
