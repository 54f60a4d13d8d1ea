// The golden files are read as closely as code. `UPDATE_GOLDEN=1 node --test` rewrites them.
// JSON ends in .txt, or the formatter would rewrite it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "@mlrb/core/text/display-width";
import fc from "fast-check";
import { csvFiles } from "./formats/csv-files.ts";
import { groupsMarkdown } from "./formats/groups.ts";
import { json } from "./formats/json.ts";
import { paperFiles } from "./formats/latex.ts";
import { markdown } from "./formats/markdown.ts";
import { terminalTable } from "./formats/terminal-table.ts";
import { plainText } from "./read/plain-text.ts";
import { smokeNote } from "./read/report-data.ts";
import { digitsText, meanError, supportedDigits } from "./sections/digits-text.ts";
import { coverageLine } from "./sections/sections.ts";
import { csvRows, csvText, parseCsv } from "./testing/csv-rows.ts";
import { Example, exampleParams, passed, referenceRows, scored, textItems } from "./testing/example.ts";
import { latex } from "./testing/latex.ts";
import { nastyExample } from "./testing/nasty-example.ts";

const nasty = nastyExample().report();
const golden = join(import.meta.dirname, "..", "golden");

for (const [file, text] of Object.entries({
  "nasty.json.txt": json(nasty),
  "nasty.md": markdown(nasty),
  "nasty.csv": Object.entries(csvFiles(nasty))
    .map(([name, text]) => `${name}\n${text}`)
    .join("\n"),
  "nasty-groups.md": groupsMarkdown(nasty),
  "nasty-tables.tex": Object.entries(paperFiles(nasty))
    .map(([name, text]) => `% ${name}\n${text}`)
    .join("\n"),
  "nasty-80.txt": terminalTable(nasty, { width: 80, color: false }),
  "nasty-120.txt": terminalTable(nasty, { width: 120, color: false }),
  "nasty-40.txt": terminalTable(nasty, { width: 40, color: false }),
})) {
  test(`the nasty run's report is, byte for byte, golden/${file}`, () => {
    if (process.env.UPDATE_GOLDEN) writeFileSync(join(golden, file), text);
    assert.equal(text, readFileSync(join(golden, file), "utf8"));
  });
}

test("a report read back from report.json prints the same text", () => {
  const back = JSON.parse(json(nasty)) as typeof nasty;
  assert.equal(markdown(back), markdown(nasty));
  assert.deepEqual(csvFiles(back), csvFiles(nasty));
  assert.equal(latex(back), latex(nasty));
  assert.equal(groupsMarkdown(back), groupsMarkdown(nasty));
  assert.equal(
    terminalTable(back, { width: 80, color: true }),
    terminalTable(nasty, { width: 80, color: true }),
  );
});

test("colour adds escape sequences and changes nothing else", () => {
  for (const width of [40, 80, 120]) {
    const plain = terminalTable(nasty, { width, color: false });
    assert.doesNotMatch(plain, /\u001b/);
    assert.equal(stripVTControlCharacters(terminalTable(nasty, { width, color: true })), plain);
  }
});

/** Many agents, seeds and long names: the shape that bursts tables. */
function wideExample(agents: number): Example {
  const names = Array.from({ length: agents }, (_, index) => `agent-with-a-long-name-${index}`);
  const example = new Example({ tasks: { "edge-llm-compression": "Compressing a model for the edge" } });
  const task = "edge-llm-compression";
  example.gives(
    "references",
    { task, scorer: "bits" },
    referenceRows("bits", [{ name: "unigram", value: 3 }]),
  );
  for (const agent of names) {
    for (const seed of [1, 2, 3]) {
      const axes = { task, agent, seed };
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${seed}` })
        .gives("validate", axes, passed)
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2 + seed / 10)));
    }
  }
  return example;
}

test("no line is wider than the terminal, and every number stays on one line", () => {
  for (const report of [nasty, wideExample(2).report(), wideExample(6).report()]) {
    const numbers = report.cells.flatMap((cell) =>
      cell.mean === null ? [] : [digitsText(cell.mean, supportedDigits(3, meanError(cell)))],
    );
    for (const width of [40, 60, 80, 100, 120, 200]) {
      const text = terminalTable(report, { width, color: false });
      for (const line of text.split("\n")) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
      for (const number of numbers) assert.ok(text.includes(number), `${number} at ${width}`);
      assert.doesNotMatch(text, /\d…/);
    }
  }
});

test("a run with missing attempts says how many seeds are complete, and a whole run does not", () => {
  const grid = ["plain", "fancy"].flatMap((agent) =>
    [1, 2, 3].map((seed) => ({ task: "letters", agent, seed })),
  );
  const line = (missing: string[]) => {
    const example = new Example();
    for (const axes of grid)
      if (missing.includes(`${axes.agent} ${axes.seed}`)) example.fails("attempt", axes, "failed", "");
      else
        example
          .gives("attempt", axes, { submission: `sha256:${axes.agent}` })
          .gives("validate", axes, passed);
    return coverageLine(example.report());
  };
  assert.match(
    line(["fancy 2"]),
    /Complete blocks: 2 of 3\. A block is every task and agent with one seed\.$/,
  );
  assert.match(line(["fancy 1", "plain 3"]), /Complete blocks: 1 of 3/);
  assert.doesNotMatch(line([]), /Complete blocks/);
});

test("every form of a smoke report has the warning, and no other report does", () => {
  const forms = (label: string) => {
    const report = new Example({ label })
      .fails("attempt", { task: "letters", agent: "plain", seed: 1 }, "failed", "")
      .report();
    return [
      json(report),
      markdown(report),
      csvText(report),
      groupsMarkdown(report),
      latex(report),
      terminalTable(report, { width: 200, color: false }),
    ];
  };
  for (const text of forms("smoke")) assert.ok(text.includes(smokeNote), text);
  for (const text of forms("official")) assert.ok(!text.includes("smoke:"), text);
});

test("hostile text becomes one plain line of bounded length", () => {
  assert.equal(plainText("a\u001b[2J\u001b]0;title\u0007b\u009b31mc\r\nd\te"), "abc d e");
  assert.equal(plainText("\u202egnp.exe\u2066\u200b \ufeffx"), "gnp.exe x");
  assert.equal(plainText("e\u0301\u0301\u0301\u0301\u0301"), "e\u0301\u0301");
  assert.equal(plainText("\ud800x"), "\ufffdx");
  assert.equal(plainText("🙂".repeat(400), 10), `${"🙂".repeat(9)}…`);
  assert.equal([...plainText("x".repeat(1e7))].length, 300);
  assert.equal(plainText("\u001b[".repeat(1e6), 10), "…");
});

test("plain text has no control character, no line break and a bounded length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
      const plain = plainText(text, 50);
      assert.doesNotMatch(plain, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      assert.ok([...plain].length <= 50 && plain.isWellFormed() && plain === plain.trim());
    }),
  );
});

test("every CSV row has every column, and no text in it begins like a formula", () => {
  for (const start of ["=1+1", "+1", "-1", "@x", "＝1", '"=1', "a,b", "\t=1"]) {
    const axes = { task: "letters", agent: start, seed: 1 };
    const report = new Example({ agents: { ...exampleParams.agents } })
      .fails("attempt", axes, "failed", start)
      .fails("score", { ...axes, scorer: "bits" }, "skipped", start)
      .report();
    const files = Object.entries(csvFiles(report));
    assert.ok(files.length >= 3);
    for (const [file, text] of files) {
      const [head, ...rows] = parseCsv(text);
      assert.ok(rows.length > 0, file);
      for (const row of rows) {
        assert.equal(row.length, head!.length);
        for (const field of row) assert.doesNotMatch(field, /^[=+\-@＝]/);
      }
    }
  }
});

test("negative numbers in CSV stay numbers", () => {
  const axes = { task: "letters", agent: "plain", seed: 1 };
  const report = new Example({ ranges: {} })
    .gives("attempt", axes, { submission: "sha256:x" })
    .gives("validate", axes, passed)
    .gives("score", { ...axes, scorer: "bits" }, scored("bits", [{ id: "a", value: -1.5, weight: 1 }]))
    .report();
  assert.equal(csvRows(report, "scores")[0]!.value, "-1.5");
});

test("hostile names stay in their Markdown cell and become no link, image, HTML or heading", () => {
  const agent = "x|y\n# z <img src=a> ![i](http://a.invalid) `c` **b** www.a.invalid";
  const report = new Example()
    .fails("attempt", { task: "letters", agent, seed: 1 }, "failed", agent)
    .report();
  const text = markdown(report);
  assert.doesNotMatch(text, /(?<!\\)<img|(?<!\\)!\[|http:\/\/|^# z|www\.a|(?<!\\)`/m);
  for (const table of text.match(/(?:^\|.*\n)+/gm)!) {
    const bars = table
      .trimEnd()
      .split("\n")
      .map((line) => line.match(/(?<!\\)\|/g)!.length);
    assert.equal(new Set(bars).size, 1, table);
  }
});

test("huge and tiny numbers keep their columns narrow and zero has no sign", () => {
  const cell = (value: number) => {
    const axes = { task: "letters", agent: "plain", seed: 1 };
    const report = new Example({ ranges: {} })
      .gives("attempt", axes, { submission: "sha256:x" })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", [{ id: "a", value, weight: 1 }]))
      .report();
    return terminalTable(report, { width: 80, color: false });
  };
  assert.match(cell(1.5e300), /1\.50e\+300 \(1\/1\)/);
  assert.match(cell(-0.0001), / 0\.000 \(1\/1\)/);
  assert.doesNotMatch(cell(-0.0001), /-0\.000/);
});
