import assert from "node:assert/strict";
import { test } from "node:test";
import { untagged } from "./brown.ts";

test("a tag is removed after the last slash, so a word may contain a slash", () => {
  assert.equal(untagged("and/or/cc 1/2/cd\n"), "and/or 1/2\n");
});

test("a paragraph becomes one line, whatever its line breaks were", () => {
  assert.equal(untagged("\n\n\tOne/cd ./.\nTwo/cd ./.\n\n\n\tThree/cd ./.\n"), "One. Two.\nThree.\n");
});

test("quotes and brackets have no inner spaces, and marks are inside closing quotes", () => {
  const tagged = "``/`` Well/uh ''/'' ,/, he/pps (/( Tom/np )/) said/vbd ,/, ``/`` what/wdt ''/'' ?/. ?/.";
  assert.equal(untagged(tagged), '"Well," he (Tom) said, "what?"\n');
});

test("an abbreviation that ends a sentence keeps one full stop", () => {
  assert.equal(untagged("Allen/np Jr./np ./."), "Allen Jr.\n");
});

test("a mark that the corpus writes twice is written once", () => {
  assert.equal(untagged("no/at ;/. ;/. yes/rb !/. !/."), "no; yes!\n");
});
