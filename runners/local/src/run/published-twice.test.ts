import assert from "node:assert/strict";
import { test } from "node:test";
import { type PublishedFile, withoutClashes } from "./published-twice.ts";

const file = (path: string, by: string): PublishedFile => ({ path, by, digest: `${by} ${path}` });
const given = (...published: PublishedFile[]) => {
  const { files, problems } = withoutClashes(published);
  return { files: [...files.keys()], said: problems.map(({ code, message }) => `${code}: ${message}`) };
};

test("files of different names are published, from any stage", () => {
  assert.deepEqual(given(file("a.json", "one.x"), file("plots/a.json", "two.y"), file("plots/b", "one.z")), {
    files: ["a.json", "plots/a.json", "plots/b"],
    said: [],
  });
});

test("two files of one name are both left out, and both stages are named", () => {
  assert.deepEqual(given(file("a.json", "two.y"), file("b.json", "one.x"), file("a.json", "one.x")), {
    files: ["b.json"],
    said: ['published-twice: "a.json" is published by one.x and two.y; none of them was published'],
  });
});

test("names that a disk may treat as equal clash too", () => {
  assert.deepEqual(given(file("A.json", "one.x"), file("a.JSON", "two.y")).files, []);
  assert.deepEqual(given(file("caf\u00e9", "one.x"), file("cafe\u0301", "two.y")).files, []);
});

test("a file where another needs a folder clashes with it", () => {
  const { files, said } = given(
    file("plots", "one.x"),
    file("plots/deep/a.png", "two.y"),
    file("c", "two.y"),
  );
  assert.deepEqual(files, ["c"]);
  assert.deepEqual(said, [
    'published-twice: "plots", a file, and "plots/deep/a.png", in a folder of that name, are published by one.x and two.y; none of them was published',
  ]);
});
