// Decisions stay few and short: context, decision, given up, what would change it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "adr");
const decisions = readdirSync(folder);

test("there are at most 40 decisions, each with its parts in under 400 words", () => {
  assert.ok(decisions.length <= 40, `${decisions.length} decisions`);
  for (const name of decisions) {
    const text = readFileSync(join(folder, name), "utf8");
    const words = text.split(/\s+/).filter(Boolean).length;
    assert.ok(words < 400, `${name} has ${words} words`);
    for (const part of ["**Context.**", "**Decision.**", "**Given up.**", "**What would change our mind.**"])
      assert.ok(text.includes(part), `${name} has no ${part}`);
  }
});

test("every decision that another one links to exists", () => {
  for (const name of decisions)
    for (const [, linked] of readFileSync(join(folder, name), "utf8").matchAll(
      /\]\((\d{4}-[a-z0-9-]+\.md)\)/g,
    ))
      assert.ok(decisions.includes(linked!), `${name}: ${linked}`);
});
