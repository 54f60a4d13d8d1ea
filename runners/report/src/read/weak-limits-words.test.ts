import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHTML } from "linkedom";
import { json } from "../formats/json.ts";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { page } from "../page/page.ts";
import { csvRows, csvText } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";
import { samplePage } from "../testing/page-example.ts";
import { weakLimitsText } from "./attempt-marks.ts";

/** Two agents; the limits of `plain` were weak. */
function example(weakLimits: Example["members"][number]["weakLimits"]): Example {
  const made = new Example();
  for (const agent of ["plain", "strong"]) {
    const axes = { task: "letters", agent, seed: 1 };
    made
      .gives("attempt", axes, { submission: `sha256:${agent}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
    const member = made.members.find(({ name, axes: own }) => name === "attempt" && own === axes)!;
    if (agent === "plain" && weakLimits) member.weakLimits = weakLimits;
  }
  return made;
}

const words = "memory limit only polled, disk limit only polled";
const report = example(["memory", "disk"]).report();

test("report.json says which limits of an attempt were weak, and says nothing of other attempts", () => {
  const { attempts } = JSON.parse(json(report)) as typeof report;
  assert.deepEqual(
    attempts.map(({ agent, weakLimits }) => [agent, weakLimits]),
    [
      ["plain", ["memory", "disk"]],
      ["strong", undefined],
    ],
  );
});

test("the attempts table marks the attempt's row and says what was weak, in Markdown and on the terminal", () => {
  const text = markdown(report);
  assert.match(text, /\| plain \| 1§ \|/);
  assert.match(text, /\| strong \| 1 \|/);
  assert.ok(text.includes(`- **letters, plain 1**: § ${words}`));
  const terminal = terminalTable(report, { width: 120, color: false }).replace(/\s+/g, " ");
  assert.ok(terminal.includes(`§ ${words}`));
});

test("the page says at the attempt what was weak", () => {
  const { document } = parseHTML(page(samplePage(report)));
  const said = [...document.querySelectorAll("details.attempt")].map(({ textContent }) => textContent);
  assert.deepEqual(
    said.map((text) => text.includes(`§ ${words}.`)),
    [true, false],
  );
});

test("each row of CSV of such an attempt says what was weak, and no other row", () => {
  for (const file of ["attempts", "scores"]) {
    const rows = csvRows(report, file);
    assert.deepEqual([...new Set(rows.map(({ agent }) => agent))], ["plain", "strong"]);
    for (const row of rows) assert.equal(row.weak_limits, row.agent === "plain" ? words : "", file);
  }
  for (const row of csvText(report).split("\r\n"))
    assert.equal(row.includes(words), row.includes(",plain,1,"), row);
});

test("without weak limits no table has the mark", () => {
  const strong = example(undefined).report();
  for (const text of [markdown(strong), latex(strong), json(strong), page(samplePage(strong))])
    assert.doesNotMatch(text, /§|textsection|weakLimits|polled/);
});

test("a missing sandbox and an older record are named too", () => {
  assert.match(weakLimitsText({ weakLimits: ["no-sandbox"] }), /no sandbox/);
  assert.match(weakLimitsText({ weakLimits: ["not-recorded"] }), /not recorded/);
  assert.equal(weakLimitsText({}), "");
});
