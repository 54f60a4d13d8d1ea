// Attempts that a person started without a check of reference models, and what was expected of these, in every
// format.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHTML } from "linkedom";
import { json } from "../formats/json.ts";
import { tableFiles } from "../formats/latex.ts";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { page } from "../page/page.ts";
import { csvText } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";
import { samplePage } from "../testing/page-example.ts";

const range = { kind: "range", low: 2, high: 2.3, source: "a paper" };

/**
 * Two agents; with `skipped` the attempt of `plain` was started without its check, with `undeclared` because there
 * was none. `bigram`: the row's value.
 */
function example({ skipped = false, undeclared = false, bigram = 2.5, expected = true } = {}): Example {
  const made = new Example({
    label: "official",
    ...(expected && {
      expected: { letters: { bits: { bigram: range, large: { kind: "finite" } } }, numbers: null },
    }),
  });
  const row = { kind: "n-gram", parameters: 1, value: bigram, standardError: 0.02 };
  made.gives(
    "references",
    { task: "letters", scorer: "bits" },
    {
      rows: { formatVersion: 1, scorer: "bits", rows: [{ ...row, name: "bigram", title: "Bigrams" }] },
    },
  );
  for (const agent of ["plain", "strong"]) {
    const axes = { task: "letters", agent, seed: 1 };
    made
      .gives("attempt", axes, { submission: `sha256:${agent}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
    const member = made.members.find(({ name, axes: own }) => name === "attempt" && own === axes)!;
    if (agent === "plain" && skipped) member.skippedChecks = ["reference-check[task=letters]"];
    if (agent === "plain" && undeclared) member.undeclaredChecks = ["reference-check[task=letters]"];
  }
  return made;
}

const line = "1 attempt was started without a check of reference models on the host (△).";
const report = example({ skipped: true }).report();
const flat = (text: string) => text.replace(/\s+/g, " ");

test("report.json says which attempt was started without its check, and what the models scored", () => {
  const { attempts, referenceChecks } = JSON.parse(json(report)) as typeof report;
  assert.deepEqual(
    attempts.map(({ agent, skippedChecks }) => [agent, skippedChecks]),
    [
      ["plain", ["reference-check[task=letters]"]],
      ["strong", undefined],
    ],
  );
  assert.deepEqual(
    referenceChecks!.map(({ model, value, passed: ok, found }) => [model, value, ok, found]),
    [
      ["bigram", 2.5, false, "2 to 2.3 expected"],
      ["large", null, false, "the scorer gave no row of this name"],
    ],
  );
});

test("the head of every format says how many attempts were started without a check", () => {
  const head = (text: string) => flat(text).slice(0, flat(text).indexOf("Means"));
  assert.ok(markdown(report).split("## ")[0]!.includes("1 attempt was started without a check"));
  assert.ok(head(terminalTable(report, { width: 120, color: false })).includes(line));
  assert.ok(flat(latex(report)).includes(line.replace("△", "\\ensuremath{\\triangle}")));
  const { document } = parseHTML(page(samplePage(report)));
  assert.ok(document.querySelector("header")!.textContent.includes(line));
});

test("each table of attempts has the footnote, so a table that is copied alone has it too", () => {
  const sections = markdown(report).split("\n## ");
  for (const heading of ["Results", "Attempts"]) {
    const section = sections.find((text) => text.startsWith(heading))!;
    assert.ok(section.includes("1 attempt was started without a check"), heading);
  }
  const caption = flat(tableFiles(report)["main.tex"]!).split("\\caption{")[1]!;
  assert.ok(caption.includes("1 attempt was started without a check"), caption.slice(0, 800));
});

test("the attempt's row is marked and says which check is missing, in tables, page and CSV", () => {
  const words = "started without reference-check";
  assert.match(markdown(report), /\| plain \| 1△ \|/);
  assert.match(markdown(report), /\| strong \| 1 \|/);
  const { document } = parseHTML(page(samplePage(report)));
  const said = [...document.querySelectorAll("details.attempt")].map(({ textContent }) => textContent);
  assert.deepEqual(
    said.map((text) => text.includes(words)),
    [true, false],
  );
  for (const row of csvText(report).split("\r\n"))
    assert.equal(row.includes(words), row.includes(",plain,1,"), row);
});

test("an attempt before which no reference model was declared has the same mark and footnote, with its own reason", () => {
  const made = example({ undeclared: true, expected: false }).report();
  const words = "started without reference-check[task=letters] (no reference model is declared)";
  const text = markdown(made);
  assert.match(text, /\| plain \| 1△ \|/);
  assert.match(text, /\| strong \| 1 \|/);
  assert.match(text, /△ started without .* \(no reference model is declared\)/);
  for (const format of [text, latex(made), terminalTable(made, { width: 120, color: false })])
    assert.ok(flat(format).includes("1 attempt was started without a check of reference models"));
  for (const row of csvText(made).split("\r\n"))
    assert.equal(row.includes(words), row.includes(",plain,1,"), row);
  const { attempts } = JSON.parse(json(made)) as typeof made;
  assert.deepEqual(attempts[0]!.undeclaredChecks, ["reference-check[task=letters]"]);
  const { document } = parseHTML(page(samplePage(made)));
  const shown = [...document.querySelectorAll("details.attempt")].map(({ textContent }) => textContent);
  assert.deepEqual(
    shown.map((one) => one.includes(words)),
    [true, false],
  );
});

test("tables show what is expected of each model, and what was missed", () => {
  const text = markdown(report);
  assert.match(text, /\| bigram \| 2\.500 \| 2 to 2\.3 \(a paper\) \| \*\*missed\*\* \|/);
  assert.match(
    text,
    /\| large \| \*\*not scored\*\* \| a finite value; no range is known \| \*\*missed\*\* \|/,
  );
  assert.ok(text.includes("- **letters, bigram**: bits: missed: 2 to 2.3 expected"));
  const right = markdown(example({ bigram: 2.1 }).report());
  assert.match(right, /\| bigram \| 2\.100 \| 2 to 2\.3 \(a paper\) \| as expected \|/);
});

test("a report without expectations and skipped checks has no trace of either", () => {
  const plain = example({ expected: false }).report();
  for (const text of [markdown(plain), latex(plain), json(plain), page(samplePage(plain))])
    assert.doesNotMatch(
      text,
      /△|without a check|"skippedChecks"|"undeclaredChecks"|"references"|expected of reference/,
    );
});
