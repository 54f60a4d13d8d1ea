import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Store } from "./artifact-store.ts";
import { ingestAll } from "./ingest-outputs.ts";
import { VerifiedContents } from "./verified-contents.ts";

const root = mkdtempSync(join(tmpdir(), "mlrb-ingest-"));
after(() => rmSync(root, { recursive: true }));

const sizes = { small: 1000, medium: 3 << 20, large: 17 << 20 };

function lab() {
  const at = mkdtempSync(join(root, "l-"));
  for (const name of ["blobs", "memory", "out", "out/one", "out/two"]) mkdirSync(join(at, name));
  const store = new Store(join(at, "blobs"));
  const verified = new VerifiedContents(join(at, "memory"));
  const take = () =>
    ingestAll(
      (["one", "two"] as const).map((name) => ({ name, path: join(at, "out", name), kind: "dir" })),
      { store, verified },
    );
  return { at, store, verified, take };
}

for (const [size, bytes] of Object.entries(sizes)) {
  const content = Buffer.alloc(bytes, size);
  const digest = hash("sha256", content);

  test(`a ${size} file is moved if both its names are ingested: its inode is the store's`, async () => {
    const { at, store, take } = lab();
    writeFileSync(join(at, "out/one/a"), content);
    linkSync(join(at, "out/one/a"), join(at, "out/two/b"));
    const { ino } = statSync(join(at, "out/one/a"));
    const taken = await take();
    assert.ok("outputs" in taken);
    const found = Object.values(taken.outputs).flatMap((output) => store.filesOf(output.digest));
    assert.deepEqual(found, [
      { path: "a", digest },
      { path: "b", digest },
    ]);
    const { ino: kept, nlink } = statSync(store.pathOf(digest));
    assert.deepEqual([kept, nlink], [ino, 1], "and no name is left behind");
  });

  test(`a ${size} file with a name elsewhere is copied: a write to that name does not reach the store`, async () => {
    const { at, store, take } = lab();
    writeFileSync(join(at, "out/one/a"), content);
    linkSync(join(at, "out/one/a"), join(at, "out/two/b"));
    linkSync(join(at, "out/one/a"), join(at, "elsewhere"));
    assert.ok("outputs" in (await take()));
    writeFileSync(join(at, "elsewhere"), "changed");
    assert.deepEqual(readFileSync(store.pathOf(digest)), content);
  });

  test(`a damaged ${size} content of the right length in the store is replaced by the ingested file`, async () => {
    const { at, store, take } = lab();
    mkdirSync(join(store.pathOf(digest), ".."), { recursive: true });
    writeFileSync(store.pathOf(digest), Buffer.alloc(bytes, "damage"));
    writeFileSync(join(at, "out/one/a"), content);
    assert.ok("outputs" in (await take()));
    assert.deepEqual(readFileSync(store.pathOf(digest)), content);
  });
}

test("copying a large file with a name elsewhere does not block, and a signal ends the copy without leftovers", async () => {
  const { at, store, verified } = lab();
  writeFileSync(join(at, "out/one/a"), "");
  truncateSync(join(at, "out/one/a"), 2 ** 32); // takes no room, and seconds to read
  linkSync(join(at, "out/one/a"), join(at, "elsewhere"));
  const ending = new AbortController();
  const taking = ingestAll(
    [{ name: "it", path: join(at, "out/one"), kind: "dir" }],
    { store, verified },
    { signal: ending.signal },
  );
  const temporaries = () => readdirSync(join(at, "blobs")).filter((name) => name.startsWith("tmp-"));
  const state = { settled: false };
  const over = taking.finally(() => Object.assign(state, { settled: true })).catch((error) => error as Error);
  while (!state.settled && temporaries().length === 0) await sleep(5);
  ending.abort();
  assert.equal(((await over) as Error).name, "AbortError");
  assert.deepEqual(temporaries(), []);
  assert.deepEqual(readdirSync(join(at, "out/one")), ["a"]);
});

for (const mode of [0o444, 0o555])
  test(`a large file of mode ${mode.toString(8)} is ingested in full with keep, whatever other names it has`, async () => {
    const { at, store, verified } = lab();
    const content = Buffer.alloc(sizes.large, "kept");
    const path = join(at, "out/one/a");
    writeFileSync(path, content, { mode });
    linkSync(path, join(at, "elsewhere"));
    for (const _ of ["once", "again"]) {
      const taken = await ingestAll(
        [{ name: "it", path, kind: "file" }],
        { store, verified },
        { keep: true },
      );
      assert.deepEqual(taken, { outputs: { it: { kind: "file", digest: hash("sha256", content) } } });
    }
    const kept = store.pathOf(hash("sha256", content));
    assert.deepEqual(readFileSync(kept), content);
    assert.equal(statSync(kept).ino === statSync(path).ino, mode === 0o444, "one inode has one mode");
    assert.deepEqual(readFileSync(path), content);
  });

test("an output that is not a folder is named, with the reason", async () => {
  const { at, take } = lab();
  writeFileSync(join(at, "out/one/a"), "fine");
  rmSync(join(at, "out/two"), { recursive: true });
  writeFileSync(join(at, "out/two"), "a file");
  assert.deepEqual(await take(), { name: "two", problem: "is not a folder" });
  assert.deepEqual(
    readdirSync(join(at, "blobs")).filter((name) => name.startsWith("tmp-")),
    [],
  );
});
