import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { capLog } from "./cap-log.ts";
import { StageLog } from "./stage-log.ts";

function folder(t: TestContext): string {
  const at = mkdtempSync(join(tmpdir(), "mlrb-cap-"));
  t.after(() => rmSync(at, { recursive: true }));
  return at;
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${String(from + index).padStart(4, "0")}\n`).join("");

test("a long log keeps its first and last whole lines, and a line between them reports the missing part", (t) => {
  const path = join(folder(t), "log");
  writeFileSync(path, lines(0, 1000));
  capLog(path, { headBytes: 105, tailBytes: 205 });
  const text = readFileSync(path, "utf8");
  assert.equal(
    text,
    `${lines(0, 10)}\nmlrb: 9700 bytes (9.5 KiB) were left out here; of a log the first 105 B and the last 205 B are kept\n${lines(980, 1000)}`,
  );
  assert.deepEqual(readdirSync(join(path, "..")), ["log"]);
  capLog(path, { headBytes: 105, tailBytes: 205 });
  assert.equal(readFileSync(path, "utf8"), text, "what was cut once is not cut again");
});

test("a log within the cap stays byte for byte, and one endless line is cut exactly at the cap", (t) => {
  const path = join(folder(t), "log");
  writeFileSync(path, "x".repeat(300));
  capLog(path, { headBytes: 100, tailBytes: 200 });
  assert.equal(readFileSync(path, "utf8"), "x".repeat(300));
  capLog(path, { headBytes: 100, tailBytes: 100 });
  assert.match(readFileSync(path, "utf8"), /^x{100}\nmlrb: 100 bytes .*\nx{100}$/);
  capLog(join(path, "..", "none"));
});

test("the log of a stage is capped at the end of the stage, whether the log was shown before or not", (t) => {
  const at = folder(t);
  const text = `${"y".repeat(1023)}\n`.repeat(65 << 10);
  const log = new StageLog(join(at, "from"), join(at, "to"));
  writeFileSync(join(at, "from"), text);
  log.end();
  assert.match(
    readFileSync(join(at, "to"), "utf8"),
    /\nmlrb: \d+ bytes \(1\.0 MiB\) were left out here; .*16\.0 MiB .*48\.0 MiB/,
  );
});
