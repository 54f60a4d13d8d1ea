import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { terminalSafe } from "@mlrb/core/text/terminal-safe";
import { printLog, tailStart } from "./print-log.ts";

function logOf(t: TestContext, text: string | Buffer): string {
  const at = mkdtempSync(join(tmpdir(), "mlrb-print-"));
  t.after(() => rmSync(at, { recursive: true }));
  writeFileSync(join(at, "log"), text);
  return join(at, "log");
}

async function printed(path: string, tail?: number): Promise<string> {
  const pieces: string[] = [];
  await printLog(path, (text) => void pieces.push(text), { tail });
  return pieces.join("");
}

test("control characters are printed as text; tabs, line ends and all letters stay", async (t) => {
  const text = "\u001b[2J\u001b]0;title\u0007red\u009b31m\tdé\u{1f600}\u202eabc\u0000\u2028\nnext";
  assert.equal(
    await printed(logOf(t, text)),
    "\\u{1b}[2J\\u{1b}]0;title\\u{7}red\\u{9b}31m\tdé\u{1f600}\\u{202e}abc\\u{0}\\u{2028}\nnext\n",
  );
  assert.equal(terminalSafe("10 %\r20 %\r\ndone"), "10 %\n20 %\ndone");
});

test("of a line that its program redrew, the last state is printed", async (t) => {
  const bar = Array.from({ length: 60_000 }, (_, at) => `step ${at} |####    |`).join("\r");
  const path = logOf(t, `begin\r\n${bar}\nend\n`);
  assert.equal(await printed(path), "begin\nstep 59999 |####    |\nend\n");
  assert.equal(await printed(path, 2), "step 59999 |####    |\nend\n");
});

test("no letter or line end is split between two pieces of a log", async (t) => {
  const line = `${"é\u{1f600}".repeat(40_000)}\r\n`;
  const path = logOf(t, line.repeat(8));
  const pieces: string[] = [];
  await printLog(path, (text) => void pieces.push(text));
  assert.ok(pieces.length > 4);
  assert.equal(pieces.join(""), line.repeat(8).replaceAll("\r\n", "\n"));
});

test("the last lines are found for any size of pieces", (t) => {
  const text = "one\ntwo\n\nfour\nfive";
  const bare = logOf(t, text);
  const ended = logOf(t, `${text}\n`);
  for (const chunk of [1, 2, 3, 7, 100])
    for (const path of [bare, ended]) {
      assert.equal(text.slice(tailStart(path, 1, { chunk })), "five");
      assert.equal(text.slice(tailStart(path, 3, { chunk })), "\nfour\nfive");
      assert.equal(tailStart(path, 5, { chunk }), 0);
      assert.equal(tailStart(path, 50, { chunk }), 0);
    }
});

test("without a log nothing is printed", async (t) => {
  assert.equal(await printed(join(logOf(t, ""), "..", "none")), "");
  assert.equal(await printed(logOf(t, "")), "");
  assert.equal(await printed(logOf(t, "a\nb\nc"), 2), "b\nc\n");
});

test("of a growing log over its limit only the kept beginning and end are printed", async (t) => {
  const cap = { headBytes: 100, tailBytes: 80 };
  const lines = Array.from({ length: 100 }, (_, index) => `line ${String(index).padStart(4, "0")}\n`).join(
    "",
  );
  const path = logOf(t, `${lines.slice(0, 100)}${"\0".repeat(840)}${lines.slice(940)}`);
  const pieces: string[] = [];
  await printLog(path, (text) => void pieces.push(text), { cap });
  assert.equal(
    pieces.join(""),
    `${lines.slice(0, 100)}\nmlrb: 880 bytes (880 B) were left out here; of a log the first 100 B and the last 80 B are kept\n${lines.slice(-20)}`,
  );
  assert.equal(tailStart(path, 1, { cap }), 990);
  assert.equal(tailStart(path, 50, { cap }), 980, "what is known of its end");
});
