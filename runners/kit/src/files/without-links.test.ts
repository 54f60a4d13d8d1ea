import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { withoutLinks } from "./without-links.ts";

test("only folders and files that no link leads to are mounted", (t) => {
  const root = mkdtempSync(join(tmpdir(), "links-"));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "workspace/data"), { recursive: true });
  writeFileSync(join(root, "workspace/file"), "");
  symlinkSync("workspace", join(root, "other"));
  symlinkSync("/etc", join(root, "workspace/etc"));
  const paths = [
    "workspace/data",
    "workspace/file",
    "workspace/etc",
    "other/data",
    "gone",
    "workspace/file/x",
  ];
  assert.deepEqual(withoutLinks(root, paths), ["workspace/data", "workspace/file"]);
});
