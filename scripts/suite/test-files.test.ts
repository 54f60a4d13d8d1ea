import assert from "node:assert/strict";
import { test } from "node:test";
import { longestFirst, selectTestFiles } from "./test-files.ts";

const files = ["runners/core/src/a.test.ts", "tests/crash.e2e.test.ts", "tests/crash.thorough.test.ts"];

test("files of the thorough tier run with --thorough, or when their whole path is given", () => {
  const selected = (thorough: boolean, ...wanted: string[]) => selectTestFiles(files, { thorough, wanted });
  assert.deepEqual(selected(false), files.slice(0, 2));
  assert.deepEqual(selected(true), files);
  assert.deepEqual(selected(false, "tests/crash"), ["tests/crash.e2e.test.ts"]);
  assert.deepEqual(selected(true, "tests/crash"), files.slice(1));
  assert.deepEqual(selected(false, "tests/crash.thorough.test.ts"), ["tests/crash.thorough.test.ts"]);
  assert.deepEqual(selected(true, "elsewhere"), []);
});

test("the longest file starts first, and files of unknown length keep their order at the end", () => {
  assert.deepEqual(longestFirst(["a", "b", "c", "d"], { b: 5, d: 60 }), ["d", "b", "a", "c"]);
});
