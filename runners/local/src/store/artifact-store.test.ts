import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MissingContent, Store } from "./artifact-store.ts";
import { stateFolder } from "./state-folder.ts";

test("a file is never materialized as a folder, whatever names it lists", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-store-"));
  t.after(() => rmSync(root, { recursive: true }));
  const store = new Store(stateFolder(root).blobs);
  const digest = store.putText("by the agent");
  const listing = (name: string) =>
    JSON.stringify({ formatVersion: 1, entries: [{ name, kind: "file", digest }] });
  store.restore({ kind: "dir", digest: store.putText(listing("inside")) }, join(root, "good"));
  assert.ok(existsSync(join(root, "good/inside")));
  for (const text of [
    listing("../outside"),
    listing(".."),
    listing(""),
    "no JSON",
    "null",
    '{"entries":[null]}',
  ])
    assert.throws(
      () =>
        store.restore({ kind: "dir", digest: store.putText(text) }, `${mkdtempSync(join(root, "to-"))}/in`),
      MissingContent,
      text,
    );
  assert.ok(!existsSync(join(root, "outside")));
});
