// Checks every lock file of the repository.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { nameKey, readLock, readPin, readSections } from "../steps/environment/lock-file.ts";

const locks = globSync("*.lock", { cwd: import.meta.dirname }).sort();
const read = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");

function pinsOf(name: string) {
  const lock = readLock(read(name), name);
  assert.ok("pins" in lock, "problems" in lock ? lock.problems.join("\n") : "");
  return lock.pins;
}

test("every pin of every lock file except torch has hashes", () => {
  const unhashed = locks.flatMap(pinsOf).filter(({ hashes }) => hashes.length === 0);
  assert.deepEqual([...new Set(unhashed.map(({ name }) => name))], ["torch"]);
});

test("no lock file names a package index", () => {
  for (const name of locks) assert.doesNotMatch(read(name), /:\/\/|--(extra-)?index|--find-links| @ /, name);
});

test("every lock file has the packages of its .in file, with their sections and versions", () => {
  for (const name of locks) {
    const from = name.replace(/\.lock$/, ".in");
    const pins = pinsOf(name);
    const { entries, problems, warm } = readSections(read(from), from);
    assert.deepEqual(problems, []);
    assert.deepEqual(readSections(read(name), name).warm, warm);
    for (const entry of entries) {
      const key = nameKey(/^[\w.-]+/.exec(entry.text)![0]);
      const pin = pins.find((one) => one.key === key);
      assert.equal(pin?.section, entry.section, `${name}: ${entry.text}`);
      assert.equal(pin.version, readPin(entry)?.version ?? pin.version, `${name}: ${entry.text}`);
      assert.deepEqual(pin.only, entry.only);
    }
  }
});
