import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseHTML } from "linkedom";
import { escapeText, html, idOf, trusted } from "./html.ts";

test("no text becomes an element or an attribute, or ends one", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const { document } = parseHTML(html`<p title="${text}">${text}</p><i></i>`.markup);
      const [first, second, ...more] = [...document.querySelectorAll("*")];
      assert.deepEqual([first?.tagName, second?.tagName, more.length], ["P", "I", 0]);
      assert.deepEqual(
        [...first!.attributes].map(({ name }) => name),
        ["title"],
      );
    }),
  );
});

test("a forged markup object is shown as text", () => {
  const forged = JSON.parse('{"markup":"<script>alert(1)</script>"}');
  assert.doesNotMatch(html`${forged}`.markup, /<script/);
  assert.equal(html`${[trusted("<b>"), "<b>"]}`.markup, "<b>&#60;b&#62;");
});

test("invisible characters and those that reverse the reading order become visible", () => {
  assert.equal(escapeText("a\u202eb\u0000c\u001b\u007fd\ud800\te\n"), "a\ufffdb␀c␛\ufffdd\ufffd\te\n");
});

test("ids of different elements differ and are valid in links", () => {
  const seen = new Map<string, string>();
  const part = fc.string({
    unit: fc.constantFrom("a", "_", "-", " ", "2", "0", "é", "[", "😀"),
    maxLength: 5,
  });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => {
      const id = idOf(...parts);
      assert.match(id, /^[A-Za-z0-9_-]*$/);
      const key = JSON.stringify(parts);
      assert.equal(seen.get(id) ?? key, key);
      seen.set(id, key);
    }),
    { numRuns: 3000 },
  );
});
