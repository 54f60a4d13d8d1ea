// Pages and decisions stay few and short.
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

test("there are at most 16 written pages with 36 000 words, tables that tests compare with code among them", () => {
  const root = join(import.meta.dirname, "..");
  const inDocs = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".md"));
  const pages = [
    ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"],
    // performance.md is the bench's tables
    ...inDocs.filter((name) => name !== "performance.md").map((name) => join("docs", name)),
  ];
  assert.ok(pages.length <= 16, pages.join(", "));
  const words = pages.map((path) => readFileSync(join(root, path), "utf8").split(/\s+/).length);
  const sum = words.reduce((one, other) => one + other, 0);
  assert.ok(sum <= 36_000, `${sum} words`);
});
