import assert from "node:assert/strict";
import { test } from "node:test";
import type { MemberOrigin } from "@mlrb/formats/attempt/record-origin";
import { parseHTML } from "linkedom";
import { groupsMarkdown } from "../formats/groups.ts";
import { json } from "../formats/json.ts";
import { tableFiles } from "../formats/latex.ts";
import { markdown, markdownSection } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { page } from "../page/page.ts";
import { times, timesSection } from "../sections/times.ts";
import { csvRows, csvText } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";
import { samplePage } from "../testing/page-example.ts";
import { importedLine } from "./attempt-marks.ts";

const task = "letters";
const unsigned: MemberOrigin = { kind: "imported", signedBy: null };

/** Two agents with two seeds each; `origins` by agent and seed. */
function example(origins: Record<string, MemberOrigin>): Example {
  const made = new Example();
  for (const agent of ["plain", "strong"])
    for (const seed of [1, 2]) {
      const axes = { task, agent, seed };
      made
        .gives("attempt", axes, { submission: `sha256:${agent}${seed}` })
        .gives("validate", axes, passed)
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2 + seed / 10)));
      const origin = origins[`${agent} ${seed}`];
      if (origin)
        made.members.find(({ name, axes: own }) => name === "attempt" && own === axes)!.origin = origin;
    }
  return made;
}

const footnote = "1 attempt was imported, unsigned (‡).";
const one = example({ "plain 1": unsigned });
const report = one.report();
/** The tables that no attempt's number is in. */
const withoutAttempts = new Set([
  "Tasks and agents",
  "Metrics",
  "Trivial baselines and reference models",
  "Gaps",
]);

test("report.json gives an imported attempt its origin, and no other attempt one", () => {
  const { attempts, cells } = JSON.parse(json(report)) as typeof report;
  assert.deepEqual(
    attempts.map(({ agent, seed, origin }) => [agent, seed, origin]),
    [
      ["plain", 1, unsigned],
      ["plain", 2, undefined],
      ["strong", 1, undefined],
      ["strong", 2, undefined],
    ],
  );
  assert.ok(cells[0]!.notes.includes("seed 1: imported, unsigned"));
  assert.ok(cells[1]!.notes.every((note) => !note.includes("imported")));
});

test("every section of Markdown with numbers of attempts has the footnote, and the means and the attempt have the mark", () => {
  const text = markdown(report);
  const [head, ...sections] = text.split(/^## /m);
  assert.ok(head!.includes(footnote));
  for (const section of sections) {
    const heading = section.slice(0, section.indexOf("\n"));
    assert.equal(section.includes(footnote), !withoutAttempts.has(heading), heading);
  }
  const [marked, other] = [/\(2\/2‡\) \| /, /\(2\/2\) \| /];
  assert.match(text, marked);
  assert.match(text, other, "the other agent's mean has none");
  assert.match(text, /\| plain \| 1‡ \|/);
  assert.match(text, /\| plain \| 2 \|/);
  assert.match(text, /- \*\*letters, plain 1\*\*: ‡ imported, unsigned/);
});

test("the terminal, LaTeX, the groups and the page have the footnote and the mark", () => {
  const terminal = terminalTable(report, { width: 120, color: false }).replace(/\s+/g, " ");
  assert.ok(terminal.includes(footnote));
  assert.ok(terminal.includes("(2/2‡)"));
  const { "main.tex": table } = tableFiles(report);
  const main = /\\caption\{(Mean over attempts.*?)\}\\label/.exec(table!)![1]!;
  assert.match(main, /1 attempt was imported, unsigned \(\\textdaggerdbl\{\}\)\. \(/);
  assert.match(table!, /& [\d.]+(?: \$\\pm\$ [\d.]+)?\\textdaggerdbl\{\} &/);
  assert.ok(groupsMarkdown(report).includes(footnote));
  const { document } = parseHTML(page(samplePage(report)));
  assert.ok(document.querySelector("header")!.textContent.includes(footnote));
  assert.match(document.querySelector("details.attempt")!.textContent, /‡ imported, unsigned\./);
});

test("each row of CSV that rests on an imported attempt says so, and no other row", () => {
  const originsOf = (file: string) => csvRows(report, file).map((row) => [row, row.origin] as const);
  for (const file of ["attempts", "scores", "checkpoints"])
    for (const [row, origin] of originsOf(file))
      assert.equal(origin, row.agent === "plain" && row.seed === "1" ? "imported, unsigned" : "", file);
  for (const file of ["summary", "comparisons"])
    for (const [row, origin] of originsOf(file))
      assert.equal(origin, [row.agent, row.agent_a, row.agent_b].includes("plain") ? footnote : "", file);
  for (const file of ["attempts", "scores", "summary"]) assert.ok(originsOf(file).length > 1, file);
  for (const row of csvText(report).split("\r\n"))
    if (!/,plain(,| and )/.test(row)) assert.doesNotMatch(row, /imported/);
});

test("the table of times has the mark and the footnote", () => {
  const found = times(one.collected, {
    ...{ label: "smoke", readLedger: () => "none", direction: () => undefined },
    read: () => ({ kind: "unreadable", cause: "none" }),
  });
  const text = markdownSection(timesSection(found));
  assert.ok(text.includes(footnote));
  assert.match(text, /\| plain \| 1‡ \|/);
});

test("a report without imported attempts has no mark, no footnote and no origin", () => {
  const plain = example({}).report();
  for (const text of [markdown(plain), latex(plain), json(plain), page(samplePage(plain))])
    assert.doesNotMatch(text, /‡|textdaggerdbl|imported|"origin"/);
});

test("the footnote counts each signer, and a hostile signer's name is one plain line", () => {
  const by = (signedBy: string | null) => ({ origin: { kind: "imported", signedBy } as const });
  assert.equal(importedLine([by("alice@lab"), {}]), "1 attempt was imported, signed by alice@lab (‡).");
  assert.equal(
    importedLine([by(null), by("alice@lab"), by(null)]),
    "3 attempts were imported: 2 unsigned, 1 signed by alice@lab (‡).",
  );
  assert.doesNotMatch(importedLine([by("a\n\u001b[31mb\u202e")]), /[\n\u001b\u202e]/);
  assert.equal(importedLine([{}]), "");
});
