import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { dropRange, heldFrom, logBound } from "./bounded-log.ts";

const mebibyte = 1 << 20;

/** A log of so many MiB, each of one letter, that a writer holds open to append to. */
function scene(t: TestContext, letters: string) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-bounded-"));
  const path = join(folder, "log");
  const writer = openSync(path, "a");
  t.after(() => {
    closeSync(writer);
    rmSync(folder, { recursive: true });
  });
  const say = (more: string) => {
    for (const letter of more) writeSync(writer, letter.repeat(mebibyte));
  };
  say(letters);
  /** The first character of each MiB; a dot for a hole. */
  const shown = () => {
    const bytes = readFileSync(path);
    return Array.from({ length: bytes.length / mebibyte }, (_, index) =>
      String.fromCharCode(bytes[index * mebibyte]! || 46),
    ).join("");
  };
  return { path, say, shown, taken: () => (statSync(path).blocks * 512) / mebibyte };
}

for (const [how, punch] of [
  ["by a hole that is punched", undefined],
  ["by truncation, where no hole can be punched", () => false],
] as const)
  test(`the middle of a log is given back ${how}, and its writer goes on at the end`, (t) => {
    const { path, say, shown, taken } = scene(t, "abcdefgh");
    dropRange(path, { start: 2 * mebibyte, end: 6 * mebibyte }, punch);
    assert.equal(shown(), "ab....gh");
    assert.ok(taken() < 5, `${taken()} MiB are taken`);
    say("i");
    assert.equal(shown(), "ab....ghi");
  });

test("a growing log keeps its start and its newest end, and takes at most twice that end in addition", (t) => {
  const { path, say, shown, taken } = scene(t, "");
  const { look } = logBound(path, { headBytes: 2 * mebibyte, tailBytes: 3 * mebibyte });
  for (const letter of "abcdefghijklmnopqrstuvwxyz") {
    say(letter);
    look();
    assert.ok(taken() < 2 + 2 * 3 + 1, `${taken()} MiB are taken`);
  }
  assert.match(shown(), /^ab\.{18,}[u-w]*xyz$/);
});

test("a missing or short log is not changed", (t) => {
  const { path, shown, say } = scene(t, "abcdefg");
  const cap = { headBytes: 2 * mebibyte, tailBytes: 3 * mebibyte };
  logBound(path, cap).look();
  assert.equal(shown(), "abcdefg");
  logBound(join(path, "..", "none"), cap).look();
  say("h");
  logBound(path, cap).look();
  assert.equal(shown(), "ab...fgh");
});

test("a reader skips the hole, and one that keeps up reads on", (t) => {
  const cap = { headBytes: 100, tailBytes: 80 };
  assert.equal(heldFrom(100, 259, cap), 100, "nothing is given back of so short a log");
  assert.equal(heldFrom(40, 1000, cap), 40, "the beginning stays");
  assert.equal(heldFrom(100, 1000, cap), 980);
  assert.equal(heldFrom(970, 1000, cap), 970);
  const { path, say, shown } = scene(t, "");
  const small = { headBytes: mebibyte, tailBytes: 4 * mebibyte };
  const { look } = logBound(path, small);
  let at = small.headBytes;
  for (const letter of "abcdefghijklmnop") {
    say(letter);
    at = heldFrom(at, statSync(path).size, small);
    say(letter); // and a look, before the reader reads
    look();
    assert.notEqual(shown()[at / mebibyte], ".", `position ${at} of ${shown()} is a hole`);
  }
});
