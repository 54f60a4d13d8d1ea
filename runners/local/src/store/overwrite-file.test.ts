import assert from "node:assert/strict";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { overwrite } from "./overwrite-file.ts";

const standing: Record<string, (path: string, other: string) => void> = {
  nothing: () => {},
  "a longer file": (path) => writeFileSync(path, "something much longer"),
  "a shorter file": (path) => writeFileSync(path, "x"),
  "a file that cannot be written": (path) => {
    writeFileSync(path, "x");
    chmodSync(path, 0o444);
  },
  "another name of a file": (path, other) => linkSync(other, path),
  "a link to a file": (path, other) => symlinkSync(other, path),
  "a link to nothing": (path) => symlinkSync("nowhere", path),
  "a folder with something in it": (path) => {
    mkdirSync(path);
    writeFileSync(join(path, "file"), "x");
  },
};

for (const [what, make] of Object.entries(standing)) {
  test(`overwriting ${what} leaves a plain file with the content, and writes to no other file`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), "mlrb-overwrite-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const [path, other] = [join(folder, "here"), join(folder, "other")];
    writeFileSync(other, "another's");
    make(path, other);
    overwrite(path, "content");
    assert.equal(readFileSync(path, "utf8"), "content");
    assert.ok(lstatSync(path).isFile());
    assert.equal(statSync(path).nlink, 1);
    assert.equal(readFileSync(other, "utf8"), "another's");
  });
}
