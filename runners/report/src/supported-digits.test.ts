// Every text of a report prints the digits that the errors of its numbers support.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { groupsMarkdown } from "./formats/groups.ts";
import { markdown } from "./formats/markdown.ts";
import { terminalTable } from "./formats/terminal-table.ts";
import { page } from "./page/page.ts";
import { latex } from "./testing/latex.ts";
import { nastyExample } from "./testing/nasty-example.ts";
import { samplePage } from "./testing/page-example.ts";

/** The nasty run with this standard error in each score, and `ofRows` in each row; samples would say another. */
function coarse(ofScores: number, ofRows: number): Report {
  const example = nastyExample();
  for (const [path, text] of example.texts) {
    if (text.kind !== "ok") continue;
    const error = path.endsWith("/rows") ? ofRows : ofScores;
    const value = text.value.replace(/"standardError":[\d.]+/g, `"standardError":${error}`);
    example.texts.set(path, { kind: "ok", value });
    if (path.endsWith("/samples")) example.texts.delete(path);
  }
  return example.report();
}

const pageText = (report: Report) =>
  page(samplePage(report))
    .replace(/<(style|script)\b.*?<\/\1>/gs, "")
    .replace(/<[^>]*?(?:aria-label="([^"]*)")?[^>]*>/g, " $1 ");

const texts: Record<string, (report: Report) => string> = {
  markdown,
  "the tables for a paper": latex,
  terminal: (report) => terminalTable(report, { width: 160, color: false }),
  page: pageText,
  "groups.md": groupsMarkdown,
};

/** Of groups every number has an error; elsewhere bits per byte, which are from 1 to 4 in this run, and differences. */
const threeDigits = (name: string) => (name.startsWith("groups") ? /\d\.\d{3}/g : /(?<![\d.:])[1-3]\.\d{3}/g);

for (const [name, text] of Object.entries(texts)) {
  test(`no score of ${name} has more digits than the errors of scores and rows support`, () => {
    assert.match(text(nastyExample().report()), threeDigits(name), "three digits with small errors");
    assert.deepEqual(text(coarse(0.9, 0.9)).match(threeDigits(name)) ?? [], []);
  });
}

test("normalised scores have the digits that the errors of their means support", () => {
  assert.match(markdown(nastyExample().report()), /\| bigram \| 0\.04 \| 0\.33 \|/);
  const found = markdown(coarse(0.9, 0.02));
  assert.match(found, /\| bigram \| 0\.0 \| 0\.3 \|/);
  assert.match(found, /\| plain \| 2\.00 \| 1 of 2 \| 0\.0 \| 0\.0 \| – \| 0\.0 \|/);
});
