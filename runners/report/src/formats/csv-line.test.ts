import assert from "node:assert/strict";
import { test } from "node:test";
import { csvLine } from "./csv-line.ts";

/** The cells of one line as a spreadsheet reads them that splits at `separator` (RFC 4180 otherwise). */
function cellsOf(line: string, separator: string): string[] {
  const cells = [""];
  let quoted = false;
  const text = line.replace(/\r\n$/, "");
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    const last = cells.length - 1;
    if (quoted && character === '"' && text[at + 1] === '"') {
      cells[last] += '"';
      at++;
    } else if (character === '"' && (quoted || cells[last] === "")) quoted = !quoted;
    else if (character === separator && !quoted) cells.push("");
    else cells[last] += character;
  }
  return cells;
}

const payloads = [
  "=1+1",
  '=HYPERLINK("http://evil.example","click")',
  "+1+cmd|' /C calc'!A0",
  "-2+3+cmd|' /C calc'!A0",
  "@SUM(1+1)*cmd|' /C calc'!A0",
  "\t=1+1",
  "\r=1+1",
  "\n=1+1",
  "  =1+1",
  "\u00a0=1+1",
  "\u200b=1+1",
  "\ufeff=1+1",
  "＝1+1",
  "＋1",
  "－1",
  "＠SUM(1)",
  '"=1+1',
  '""=1+1',
  "'=1+1",
  "harmless;=1+1",
  "harmless; =1+1",
  'harmless;"=1+1"',
  "harmless\t=1+1",
  "harmless|@SUM(1)",
  'harmless",=1+1',
  'harmless"\r\n=1+1',
  "a;b;;-1",
];

test("no cell of a hostile text begins like a formula, whichever separator the spreadsheet splits at", () => {
  for (const payload of payloads)
    for (const separator of [",", ";", "\t", "|"])
      for (const cell of cellsOf(csvLine(["agent", payload, "note"]), separator))
        assert.doesNotMatch(
          cell,
          /^[\s"\p{Cf}]*[=+\-@＝＋－＠\t\r]/u,
          `${JSON.stringify(payload)} split at ${JSON.stringify(separator)}`,
        );
});

test("a hostile text stays one cell of one line", () => {
  for (const payload of payloads) {
    const line = csvLine(["agent", payload, "note"]);
    assert.equal(cellsOf(line, ",").length, 3, JSON.stringify(payload));
    assert.equal(line.match(/[\r\n]/g)?.length, 2, JSON.stringify(payload));
  }
});

test("numbers stay numbers, also negative ones; null is an empty cell", () => {
  assert.equal(csvLine([-1, 0.5, -1e-9, true, null]), "-1,0.5,-1e-9,true,\r\n");
});

test("text with quotes, commas and semicolons is read back as it was", () => {
  const texts = ['say "hello", friend', "one; two", "a|b", "well-known", "1 + 1 = 2", "a@b.example"];
  assert.deepEqual(cellsOf(csvLine(texts), ","), texts);
});
