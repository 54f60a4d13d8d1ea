import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { latexPlainNumbers, latexText } from "./latex-text.ts";

test("no command, comment, alignment or formula of a text survives", () => {
  assert.equal(latexText("\\input{/etc/passwd}"), "\\textbackslash{}input\\{/etc/passwd\\}");
  assert.equal(
    latexText("50% & $x_1^2$ #~"),
    "50\\% \\& \\$x\\_1\\textasciicircum{}2\\$ \\#\\textasciitilde{}",
  );
  assert.equal(latexText("^^5cend"), "\\textasciicircum{}\\textasciicircum{}5cend");
  assert.equal(latexText("a\\\\[1cm]\n\nb"), "a\\textbackslash{}\\textbackslash{}{[}1cm{]} b");
});

test("characters that LaTeX would join stay separate", () => {
  assert.equal(latexText("--- ,, ''a'b'' <<"), "-{}-{}- ,{}, '{}'a'b'{}' \\textless{}\\textless{}");
});

test("without siunitx, signs and powers of ten are formulas, and words keep their hyphens", () => {
  assert.equal(latexPlainNumbers("-0.12 (2/3), 4.92e+8"), "$-$0.12 (2/3), 4.92$\\times10^{8}$");
  assert.equal(latexPlainNumbers("1e-4; gpt-4o; v1.2.3"), "1$\\times10^{-4}$; gpt-4o; v1.2.3");
});

test("characters that T1 lacks are named by their code points", () => {
  assert.equal(latexText("日本 é ↑ 🙂"), "{[}U+65E5 U+672C{]} é $\\uparrow$ {[}U+1F642{]}");
  assert.equal(latexText("e\u0301"), "é");
});

test("long words may break, so that text stays near its column", () => {
  assert.equal(latexText("x".repeat(45)).match(/\\allowbreak\{\}/g)!.length, 2);
  assert.doesNotMatch(latexText("short words only, as people write them"), /allowbreak/);
  assert.doesNotMatch(latexText("an-agent-with-a-long-name-of-short-words"), /allowbreak/);
});

/** `text` without the commands that latexText writes, which must be all that LaTeX could act on. */
const written =
  /\\(?:text[a-z]+|ldots|allowbreak|P)\{\}|\\ensuremath\{\\(?:Vert|approx|oplus|triangle|diamond)\}|\\[{}$&#%_]|\$\\(?:pm|times|leq|geq|[a-z]*arrow)\$|\$-\$|\{[[\]*]\}|(?<=[-',])\{\}(?=[-',])/g;

test("any text becomes only known commands and harmless characters", () => {
  const hostile = fc.string({
    unit: fc.constantFrom(..."\\{}$&#%_~^[]*`'\",-<>|@!?/ \n\tab0é日¶‖≈⊕△◇◊\u202e"),
  });
  for (const texts of [hostile, fc.string({ unit: "binary" })]) {
    fc.assert(
      fc.property(texts, (text) => {
        const rest = latexText(text).replace(written, "");
        assert.doesNotMatch(rest, /[\\{}$&#%_~^[\]*"`\n]/);
        assert.match(rest, /^[\u0020-\u017e]*$/);
      }),
      { numRuns: 500 },
    );
  }
});
