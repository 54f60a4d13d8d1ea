import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { packageFolders } from "./package-folders.ts";

function folders(t: TestContext) {
  const above = realpathSync(mkdtempSync(join(tmpdir(), "packages-")));
  t.after(() => rmSync(above, { recursive: true, force: true }));
  const link = (from: string, to: string) => {
    mkdirSync(dirname(join(above, from)), { recursive: true });
    mkdirSync(join(above, to), { recursive: true });
    symlinkSync(join(above, to), join(above, from));
  };
  return { at: (path: string) => join(above, path), link };
}

test("packages inside the repository need no further folder", (t) => {
  const { at, link } = folders(t);
  link("a/node_modules/zx", "a/node_modules/.pnpm/zx@8/node_modules/zx");
  link("a/runners/kit/node_modules/@mlrb/core", "a/runners/core");
  assert.deepEqual(packageFolders(at("a")), { stores: [], linked: [] });
});

test("packages elsewhere are found with their neighbours, each folder once", (t) => {
  const { at, link } = folders(t);
  link("b/node_modules/zx", "other/node_modules/.pnpm/zx@8/node_modules/zx");
  link("b/runners/cli/node_modules/@scope/ajv", "other/node_modules/.pnpm/ajv@8/node_modules/@scope/ajv");
  link("b/runners/cli/node_modules/linked", "workspace/linked");
  symlinkSync(at("nowhere"), at("b/node_modules/broken"));
  assert.deepEqual(packageFolders(at("b")), {
    stores: [at("other/node_modules")],
    linked: [at("workspace/linked")],
  });
});

test("a shared store is found by pnpm's own record of it", (t) => {
  const { at, link } = folders(t);
  link("c/node_modules/zx", "store/links/zx/8/hash/node_modules/zx");
  writeFileSync(at("c/node_modules/.modules.yaml"), `{\n  "virtualStoreDir": "../../store/links"\n}\n`);
  assert.deepEqual(packageFolders(at("c")), { stores: [at("store/links")], linked: [] });
});
