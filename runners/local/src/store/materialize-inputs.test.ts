import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { MissingContent, Store } from "./artifact-store.ts";
import { manyItems, materialize } from "./materialize-inputs.ts";
import { stateFolder } from "./state-folder.ts";
import { VerifiedContents } from "./verified-contents.ts";

/** A store with `count` texts, and what a stage that gets all of them sees. */
function scene(t: TestContext, count: number) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-materialize-"));
  t.after(() => rmSync(root, { recursive: true }));
  const state = stateFolder(root);
  const store = new Store(state.blobs);
  const verified = new VerifiedContents(state.memory);
  const to = join(root, "in");
  mkdirSync(to);
  const texts = Array.from({ length: count }, (_, index) => `text ${index % 10}`);
  const items: { artifact: Artifact; path: string }[] = texts.map((text, index) => ({
    artifact: { kind: "file", digest: store.putText(text) },
    path: join(to, String(index)),
  }));
  return {
    store,
    items,
    root,
    to,
    put: (readOnly: boolean) => materialize(items, { store, verified, link: async () => readOnly }),
    links: () => readdirSync(to).filter((name) => statSync(join(to, name)).nlink > 1).length,
    texts: () => items.map(({ path }) => readFileSync(path, "utf8")),
    expected: texts,
  };
}

test("many small files are links where the consumer cannot write", async (t) => {
  const { put, links, texts, expected } = scene(t, manyItems);
  assert.equal(await put(true), true);
  assert.equal(links(), manyItems);
  assert.deepEqual(texts(), expected);
});

test("few small files, and all files of a consumer that can write, are copies", async (t) => {
  const few = scene(t, 10);
  assert.equal(await few.put(true), false);
  assert.equal(few.links(), 0);
  const writable = scene(t, manyItems);
  assert.equal(await writable.put(false), false);
  assert.equal(writable.links(), 0);
  assert.deepEqual(writable.texts(), writable.expected);
});

test("programs among many files are copies, which have a mode of their own", async (t) => {
  const { store, items, put, root, to } = scene(t, manyItems);
  const folder = join(root, "folder");
  mkdirSync(folder);
  writeFileSync(join(folder, "program"), "text 1");
  chmodSync(join(folder, "program"), 0o755);
  items.push({ artifact: store.put(folder, "dir"), path: join(to, "folder") });
  assert.equal(await put(true), true);
  const { mode, nlink } = statSync(join(to, "folder/program"));
  assert.deepEqual([mode & 0o777, nlink], [0o755, 1]);
  assert.equal(statSync(store.pathOf(items[1]!.artifact.digest)).mode & 0o777, 0o444);
});

test("a content that was damaged in the store is never linked", async (t) => {
  const { store, items, put } = scene(t, manyItems);
  const { digest } = items[7]!.artifact;
  chmodSync(store.pathOf(digest), 0o644);
  writeFileSync(store.pathOf(digest), "text X");
  await assert.rejects(put(true), MissingContent);
  assert.ok(!store.has(digest));
});

test("links of an earlier stage are replaced, not written through", async (t) => {
  const { store, items, put, texts, expected } = scene(t, manyItems);
  await put(true);
  [items[0]!.artifact, items[1]!.artifact] = [items[1]!.artifact, items[0]!.artifact];
  await put(true);
  assert.deepEqual(texts().slice(0, 2), [expected[1], expected[0]]);
  for (const { artifact } of items) assert.ok(store.isWhole(artifact));
});
