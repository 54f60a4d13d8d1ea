import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { makeRelayFolder } from "./relay-folder.ts";

async function listens(t: TestContext, temporary: string): Promise<string> {
  mkdirSync(temporary, { recursive: true });
  const folder = makeRelayFolder(temporary);
  t.after(() => removeFolder(folder));
  const server = createServer().listen(join(folder, "sock.4194304"));
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  await new Promise((closed) => server.close(closed));
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  return folder;
}

test("the relay's socket can be made for each length of the temporary folder's path, there if it fits", async (t) => {
  const root = mkdtempSync("/tmp/mlrb-relay-folder-");
  t.after(() => removeFolder(root));
  for (let length = root.length + 2; length < 120; length += 3) {
    const temporary = join(root, "x".repeat(length - root.length - 1));
    const folder = await listens(t, temporary);
    if (length < 70) assert.ok(folder.startsWith(temporary), folder);
  }
});
