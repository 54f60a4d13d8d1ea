// docs/measures.md describes iterations and ends as they are.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { end } from "@mlrb/formats/attempt/iterations";

const text = readFileSync(join(import.meta.dirname, "measures.md"), "utf8");

test("the page lists every kind of end, in the order of the format", () => {
  const table = text.slice(text.indexOf("| kind |"), text.indexOf("## Sources"));
  const kinds = [...table.matchAll(/^\| ([a-z, -]+) \| (?!recorded)/gm)].flatMap(([, names]) =>
    names!.split(", "),
  );
  assert.deepEqual(kinds, end.properties.kind.enum);
});
