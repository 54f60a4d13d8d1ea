// What an agent may leave in a sandbox's folder before it continues or ends.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { base } from "../testing/scripted-scaffold.ts";
import { sandboxFolder } from "./sandbox-folder.ts";

const asRoot = process.getuid?.() === 0;
const owner = asRoot ? { uid: 60_700, gid: 60_700 } : undefined;

function left(t: TestContext) {
  const under = base(t);
  const [root, host] = [join(under, "sandbox-1"), join(under, "host")];
  for (const path of [root, host]) mkdirSync(path);
  return { under, root, host };
}

test("a continued sandbox changes nothing behind a link in place of its home", async (t) => {
  const { under, root, host } = left(t);
  symlinkSync(host, join(root, "home"));
  writeFileSync(join(root, "tmp"), "a file");
  const { uid } = statSync(host);
  await sandboxFolder(under, { earlier: root, owner });
  assert.equal(statSync(host).uid, uid);
  if (owner) assert.equal(statSync(root).uid, owner.uid);
});

test("a continued sandbox gets a home in place of a missing one", async (t) => {
  const { under, root } = left(t);
  await sandboxFolder(under, { earlier: root, owner });
  assert.deepEqual(readdirSync(root).sort(), ["home", "tmp"]);
  if (owner) assert.equal(statSync(join(root, "home")).uid, owner.uid);
});

test("making room changes no modes behind a link in place of the home", async (t) => {
  const { under, root, host } = left(t);
  writeFileSync(join(host, "file"), "");
  chmodSync(join(host, "file"), 0o000);
  symlinkSync(host, join(root, "home"));
  const folder = await sandboxFolder(under, { earlier: root });
  await folder.shed();
  assert.equal(statSync(join(host, "file")).mode & 0o777, 0);
  assert.equal(existsSync(join(root, "home")), false);
});
