import assert from "node:assert/strict";
import { test } from "node:test";
import { foldedText, unseen } from "./folded-text.ts";

test("letters that look like Latin ones become these, and what is not seen one mark", () => {
  for (const text of [
    "Сlаudе",
    "Ｃｌａｕｄｅ",
    "𝐂𝐥𝐚𝐮𝐝𝐞",
    "Ⓒⓛⓐⓤⓓⓔ",
    "ϲᴌaude".replace("ᴌ", "ʟ"),
    "\\u0043laude",
    "\\x43laude",
  ])
    assert.equal(foldedText(text).text.toLowerCase(), "claude", text);
  for (const text of [
    "cl\u200baude",
    "cl\u00adaude",
    "cl\\u{200b}aude",
    "cl\\u200baude",
    "cl\u0336aude",
    "cl\\u{1b}[31maude",
    "cl\\033[31maude",
    "cl\\e[1;31maude",
  ])
    assert.equal(foldedText(text).text, `cl${unseen}aude`, text);
  assert.equal(foldedText("gpt\u20114o\u00a0a").text, "gpt-4o a");
});

test("each character of the folded text is one piece of the text, whatever stands before it", () => {
  for (const before of [
    "",
    "ﬁ",
    "\u0344İ😀",
    "\\u{1f600}",
    "é\\u{1b}[0m",
    "\ud800",
    "\\u{ffffff}",
    "ß\\xff",
    "𝔄",
  ]) {
    const text = `${before}-СlaudE\\u{200b}!`;
    const folded = foldedText(text);
    assert.equal(folded.pieces.join(""), text);
    assert.equal(folded.pieces.length, folded.text.length);
    const at = folded.text.indexOf("claudE");
    assert.equal(folded.pieces.slice(at).join(""), "СlaudE\\u{200b}!");
  }
});

test("plain text stays as it is", () => {
  const text = "C:\\users\\x \\n \\u12 é";
  assert.equal(foldedText(text.slice(0, -1)).text, text.slice(0, -1));
});
