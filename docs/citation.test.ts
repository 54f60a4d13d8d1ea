// Every place that says how to cite has the same facts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { paperBibtex, softwareBibtex } from "@mlrb/report/page/citation";
import { parse } from "yaml";

const repository = join(import.meta.dirname, "..");
const text = (path: string) => readFileSync(join(repository, path), "utf8");
const cff = parse(text("CITATION.cff"));
/** The value of a field of a BibTeX entry, without braces. */
const field = (entry: string, name: string) =>
  new RegExp(`^ *${name} *= \\{+(.*?)\\}+,?$`, "m").exec(entry)?.[1];

test("CITATION.cff has what version 1.2 of the format requires, and no field that it does not know", () => {
  assert.equal(cff["cff-version"], "1.2.0");
  for (const name of ["message", "title", "authors"]) assert.ok(cff[name]?.length > 0, name);
  assert.deepEqual(Object.keys(cff), [
    ...["cff-version", "message", "title", "type", "authors", "license", "keywords", "preferred-citation"],
  ]);
  for (const name of ["type", "title", "authors"]) assert.ok(cff["preferred-citation"][name], name);
});

test("the page's BibTeX has the facts of CITATION.cff", () => {
  const paper = cff["preferred-citation"];
  const [{ "family-names": family, "given-names": given }] = paper.authors;
  assert.equal(field(paperBibtex, "title"), paper.title);
  assert.equal(field(paperBibtex, "author"), `${family}, ${given}`);
  assert.equal(field(paperBibtex, "year"), String(paper.year));
  assert.equal(field(paperBibtex, "doi"), paper.doi);
  assert.equal(`arXiv:${field(paperBibtex, "eprint")}`, paper.identifiers[0].value);
  const software = softwareBibtex("a commit");
  assert.equal(field(software, "title"), cff.title);
  assert.equal(field(software, "author"), cff.authors[0].name);
});

test("docs/paper.md has the page's BibTeX of the paper, and the README leads there", () => {
  assert.ok(text("docs/paper.md").includes(paperBibtex));
  assert.match(text("README.md"), /docs\/paper\.md#cite/);
  assert.match(text("README.md"), /CITATION\.cff/);
});
