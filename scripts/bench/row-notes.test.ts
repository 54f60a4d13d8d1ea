// Every row that a bench writes by a literal name has a floor.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rowNote } from "./row-notes.ts";

test("the rows of the bench state their floors", () => {
  const files = readdirSync(import.meta.dirname, { encoding: "utf8", recursive: true }).filter((name) =>
    /^[^.]*\.ts$/.test(name),
  );
  const names = files.flatMap((name) => {
    const text = readFileSync(join(import.meta.dirname, name), "utf8");
    return [...text.matchAll(/\brow\(\s*(?:"([^"]*)"|`([^`]*)`)/g)].map(([, plain, template]) =>
      (plain ?? template)!.replaceAll(/\$\{[^}]*\}/g, "1"),
    );
  });
  assert.ok(names.length > 25, `only ${names.length} rows were found`);
  assert.deepEqual(
    names.filter((name) => rowNote(name) === undefined),
    [],
  );
});
