// docs/measures.md describes iterations and ends as they are.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { labelPrecisionMin, printableLabels } from "@mlrb/core/iterations/printable-labels";
import { end } from "@mlrb/formats/attempt/iterations";

const text = readFileSync(join(import.meta.dirname, "measures.md"), "utf8");

test("the page lists every kind of end, in the order of the format", () => {
  const table = text.slice(text.indexOf("| kind |"), text.indexOf("## Labels"));
  const kinds = [...table.matchAll(/^\| ([a-z, -]+) \| (?!recorded)/gm)].flatMap(([, names]) =>
    names!.split(", "),
  );
  assert.deepEqual(kinds, end.properties.kind.enum);
});

test("the page's threshold of labels, and its examples of it, are the program's", () => {
  assert.match(text, new RegExp(`at least ${labelPrecisionMin},`));
  const [, right, of, few, many] = /(\d+) right uses of (\d+) suffice, (\d+) of (\d+) do not/
    .exec(text)!
    .map(Number);
  const printed = (precision: { right: number; of: number }) =>
    printableLabels([{ name: "x", detail: "", precision }]).length;
  assert.deepEqual([printed({ right: right!, of: of! }), printed({ right: few!, of: many! })], [1, 0]);
});
