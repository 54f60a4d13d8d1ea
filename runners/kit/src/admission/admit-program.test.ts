import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { admitProgram, programLimits, writeCleanProgram } from "./admit-program.ts";

const root = mkdtempSync(join(tmpdir(), "mlrb-admit-program-"));
after(() => rmSync(root, { recursive: true }));

function submission(fill: (folder: string) => void): string {
  const folder = mkdtempSync(join(root, "s-"));
  writeFileSync(join(folder, "main.py"), "print(1)\n");
  fill(folder);
  return folder;
}

test("the plain files of a program are copied with their folders, and nothing else is", () => {
  const folder = submission((at) => {
    mkdirSync(join(at, "parts"));
    writeFileSync(join(at, "parts/weights.bin"), "w");
    symlinkSync("/etc/passwd", join(at, "labels"));
    symlinkSync("/etc", join(at, "parts/etc"));
    execFileSync("mkfifo", [join(at, "pipe")]);
  });
  const admission = admitProgram(folder);
  assert.deepEqual(admission, {
    formatVersion: 1,
    admitted: true,
    reasons: [],
    ignored: {
      count: 3,
      first: [
        { path: "labels", why: "a symbolic link" },
        { path: "parts/etc", why: "a symbolic link" },
        { path: "pipe", why: "a device, pipe or socket" },
      ],
    },
  });
  const clean = mkdtempSync(join(root, "c-"));
  writeCleanProgram(folder, clean);
  const kept = readdirSync(clean, { recursive: true, encoding: "utf8" }).sort();
  assert.deepEqual(kept, ["program", "program/main.py", "program/parts", "program/parts/weights.bin"]);
  assert.equal(readFileSync(join(clean, "program/main.py"), "utf8"), "print(1)\n");
});

const code = (folder: string) => admitProgram(folder).reasons.map((reason) => reason.code);

test("a folder without main.py, an empty one and a missing one are refused with a reason each", () => {
  const without = mkdtempSync(join(root, "n-"));
  assert.deepEqual(code(without), ["empty"]);
  symlinkSync("/etc/passwd", join(without, "main.py"));
  assert.deepEqual(code(without), ["no-program"]);
  assert.deepEqual(code(join(root, "missing")), ["empty"]);
});

test("too many bytes, files or levels are refused, and nothing is read of them", () => {
  const large = submission((at) => {
    writeFileSync(join(at, "weights.bin"), "");
    truncateSync(join(at, "weights.bin"), programLimits.bytes + 1); // takes no space
  });
  assert.match(admitProgram(large).reasons[0]!.detail, /more than 20 GiB/);
  const deep = submission((at) =>
    mkdirSync(join(at, ...Array.from({ length: programLimits.depth + 1 }, () => "d")), { recursive: true }),
  );
  writeFileSync(join(deep, ...Array.from({ length: programLimits.depth + 1 }, () => "d"), "f"), "");
  assert.match(admitProgram(deep).reasons[0]!.detail, /folders deeper than 16/);
  const many = submission((at) => {
    for (let one = 0; one < 20; one++) writeFileSync(join(at, String(one)), "");
  });
  const { entries } = programLimits;
  programLimits.entries = 20;
  assert.match(admitProgram(many).reasons[0]!.detail, /more than 20 files/);
  programLimits.entries = entries;
});
