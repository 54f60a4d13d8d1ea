// What LaTeX would do with a report is asked of Debian's pdfLaTeX, where it is installed.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import { costFigure } from "../paper/cost-figure.ts";
import { forestFigure } from "../paper/forest-figure.ts";
import { smokeNote } from "../read/report-data.ts";
import { digitsText, meanError, supportedDigits } from "../sections/digits-text.ts";
import { Example, passed, referenceRows, scored, textItems, verdict } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { costTableFiles, figureFile, paperFiles, tableFiles } from "./latex.ts";
import { latexText } from "./latex-text.ts";

/** Agents by how their three attempts at letters went. */
function attempted(agents: Record<string, (number | "disqualified" | "missing")[]>, title?: string) {
  const titles = Object.fromEntries(Object.keys(agents).map((agent) => [agent, title ?? agent]));
  const example = new Example({ agents: titles, baselines: { letters: { bits: 3 } } });
  for (const [agent, fates] of Object.entries(agents)) {
    for (const [index, fate] of fates.entries()) {
      const axes = { task: "letters", agent, seed: index + 1 };
      if (fate === "missing") {
        example.fails("attempt", axes, "failed", "no sandbox");
        example.fails("score", { ...axes, scorer: "bits" }, "skipped", "");
        continue;
      }
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${index}` })
        .gives(
          "validate",
          axes,
          fate === "disqualified"
            ? verdict("disqualified", { evidence: `${agent} ${"x".repeat(250)}` })
            : passed,
        )
        .gives(
          "score",
          { ...axes, scorer: "bits" },
          scored("bits", textItems(fate === "disqualified" ? 1 : fate)),
        );
    }
  }
  return example.report();
}

/** The cells of a row of a table, without the widths and spaces of LaTeX. */
function rowsOf(file: string): string[][] {
  return file
    .split("\n")
    .filter((line) => line.endsWith(" \\\\"))
    .map((line) => line.replaceAll("\\hspace{0pt}", "").slice(0, -3).split(" & "));
}

test("the main table marks coverage, and the table of attempts the disqualified ones and the mean over valid ones", () => {
  const files = tableFiles(attempted({ plain: [2, 2.5, "disqualified"], strong: [2, 2.5, "missing"] }));
  const [head, row] = rowsOf(files["main.tex"]!);
  assert.deepEqual(head!.slice(2), ["plain", "strong", "Trivial baseline", "Reference model"]);
  assert.deepEqual(row, [
    ...["Learning letters", "bits per byte of held-out text $\\downarrow$"],
    ...["2.50 $\\pm$ 0.50", "2.25 $\\pm$ 0.35 (2/3)", "3.000", "unknown"],
  ]);
  assert.match(
    files["main.tex"]!,
    /\(n = 2 to 3 attempts per task and agent; in parentheses measured\/planned/,
  );
  // 2, 2.5 and the baseline 3; two measured of three are too few for an interval
  const [, , plain, strong] = rowsOf(files["attempts.tex"]!.replace(/^\\multicolumn.*\n/m, "x \\\\\n"));
  assert.deepEqual(plain!.slice(0, 6), ["plain", "2", "0", "1", "0", "0"]);
  assert.deepEqual(plain!.at(-1), "2.25 {[}0.00, 5.43{]}");
  assert.deepEqual(strong!.slice(0, 6), ["strong", "2", "0", "0", "0", "1"]);
  assert.deepEqual(strong!.at(-1), "2.25");
});

test("only a mean that is ahead of all others beyond item noise is bold, and the caption says what bold means", () => {
  const bold = (agents: Record<string, (number | "disqualified" | "missing")[]>) => {
    const file = tableFiles(attempted(agents))["main.tex"]!;
    assert.match(
      file,
      /Bold: the best mean, where it is ahead of every other agent by more than two standard errors/,
    );
    return [...file.matchAll(/\\textbf\{(.*?)\}/g)].map(([, text]) => text);
  };
  assert.deepEqual(bold({ plain: [2, 2], strong: [2.5, 2.5] }), ["2.000 $\\pm$ 0.000"]);
  assert.deepEqual(bold({ plain: [2, 2], strong: [2, 2] }), [], "equal means");
  assert.deepEqual(bold({ plain: [2, 2] }), [], "nothing to compare with");
  assert.deepEqual(bold({ plain: [2, 2], strong: [2.5, 2.5], third: [2, 2] }), [], "two are level");
  assert.deepEqual(
    bold({ plain: ["disqualified", 2], strong: [2.4, 2.4] }),
    [],
    "the mean and the items disagree",
  );
});

test("every caption of tables and figures has the report's label or warning", () => {
  const report = nastyExample().report();
  const figures = (["scores", "over-time", "cost"] as const).map((name) => figureFile(report, name));
  const text = [latex(report), ...figures].join("");
  const captions = text.match(/\\caption\{.*/g)!;
  assert.ok(captions.length > 4);
  for (const caption of captions) assert.ok(caption.includes(latexText(smokeNote)), caption);
  assert.equal(text.match(/\\begin\{(?:longtable|table\*|figure\*)\}/g)!.length, captions.length);
});

test("more agents than fit continue in further tables", () => {
  const names = Array.from({ length: 7 }, (_, at) => `agent-${at}`);
  const report = attempted(Object.fromEntries(names.map((agent) => [agent, [2, 2.5, 3]])));
  const files = tableFiles(report);
  const main = Object.keys(files).filter((name) => name.startsWith("main"));
  assert.deepEqual(main, ["main.tex", "main-agents-2.tex"]);
  assert.match(files["main.tex"]!, /part 1 of 2/);
  assert.match(files["main-agents-2.tex"]!, /part 2 of 2/);
  for (const name of main) assert.equal(files[name]!.match(/Learning letters/g)!.length, 1);
});

test("a table of more rows than fit a page continues in further files", () => {
  const names = Array.from({ length: 45 }, (_, at) => `agent-${at}`);
  const report = attempted(Object.fromEntries(names.map((agent) => [agent, [2]])));
  const files = tableFiles(report);
  assert.match(files["attempts-2.tex"]!, /Part 2 of 2\./);
  assert.match(files["attempts-2.tex"]!, /\\label\{tab:mlrb-attempts-2\}/);
  const agents = [files["attempts.tex"]!, files["attempts-2.tex"]!].map(
    (text) => text.match(/agent-\d+ &/g)!.length,
  );
  assert.deepEqual(agents, [40, 5]);
});

test("a table whose wrapped rows are higher than a page continues in further files, and cuts no task in two", () => {
  const files = tableFiles(paperReport());
  const attempts = Object.keys(files).filter((name) => name.startsWith("attempts"));
  const rows = attempts.map((name) => rowsOf(files[name]!).filter(({ length }) => length > 1).length - 1);
  assert.deepEqual(rows, [20, 15], "of five agents at seven tasks");
});

/** What attempts cost, unknown of the first. */
function timesOf({ attempts, label }: Report): Times {
  return {
    ...{ formatVersion: 1, label },
    attempts: attempts.map(({ task, agent, seed }, at) => ({
      task,
      agent,
      seed,
      wallSeconds: 3600 + at,
      workingSeconds: null,
      budgetSeconds: null,
      ended: null,
      ...{ tokens: 1_200_000 + at, dollars: at === 0 ? null : 43 + at, gpuHours: 24, gpuBusyHours: null },
      ...{ firstValidSeconds: null, improvementPerHour: null },
      ...{ gpuMemoryPeakMiB: null, unusedShare: null, sinceImprovementSeconds: null, bestSoFar: [] },
    })),
  };
}

const filesOf = (report: Report) => ({
  ...tableFiles(report),
  ...costTableFiles(report, timesOf(report)),
});

/** The text of a report as a PDF has it, how many pages it has, and LaTeX's log; fails with its words. */
async function compiledReport(t: TestContext, report: Report) {
  const pdfs = { scores: await forestFigure(report), cost: await costFigure(report, timesOf(report)) };
  const figures = Object.entries(pdfs).flatMap(([name, pdf]) =>
    pdf ? [[`../figures/${name}.pdf`, pdf] as const] : [],
  );
  const files = { ...paperFiles(report), ...costTableFiles(report, timesOf(report)) };
  const figuresOf = (["scores", "cost"] as const).filter((name) => pdfs[name]);
  const floats = figuresOf.map((name) => figureFile(report, name));
  return compiled(t, paper(Object.keys(files), floats), { ...files, ...Object.fromEntries(figures) });
}

type Page = { options?: string; page?: string };

/** A paper that inputs these files of `tables`, and more. */
function paper(files: string[], more: string[] = [], { options = "", page = "" }: Page = {}): string {
  return [
    `\\documentclass${options}{article}`,
    "\\usepackage[T1]{fontenc}",
    "\\usepackage[utf8]{inputenc}",
    "\\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}",
    page || papers["NeurIPS-like"].page,
    "\\usepackage{array,booktabs,graphicx}",
    "\\begin{document}",
    ...files.map((file) => `\\input{tables/${file.replace(".tex", "")}}`),
    "\\clearpage",
    ...more,
    "\\end{document}",
  ].join("\n");
}

/** The same of any document, next to a folder with `tables`. */
function compiled(
  t: TestContext,
  tex: string,
  tables: Record<string, string | Buffer> = {},
): { text: string; firstPage: string; pages: number; log: string } {
  const folder = mkdtempSync(join(tmpdir(), "latex-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["tables", "figures"]) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(tables)) writeFileSync(join(folder, "tables", name), text);
  writeFileSync(join(folder, "report.tex"), tex);
  for (let pass = 0; pass < 2; pass++) {
    const { status, stdout } = spawnSync(
      "pdflatex",
      ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"],
      { cwd: folder, encoding: "latin1", timeout: 120_000 },
    );
    assert.equal(status, 0, stdout);
  }
  const log = readFileSync(join(folder, "report.log"), "latin1");
  // what is below the end of a page would be lost
  assert.doesNotMatch(log, /^!|Missing character|undefined|Float too large/m);
  execFileSync("pdftotext", ["-layout", "report.pdf"], { cwd: folder });
  const facts = execFileSync("pdfinfo", ["report.pdf"], { cwd: folder, encoding: "utf8" });
  const text = readFileSync(join(folder, "report.txt"), "utf8");
  return {
    text: text.replaceAll(/\s+/g, " "),
    firstPage: text.split("\f", 1)[0]!,
    pages: Number(/^Pages: +(\d+)$/m.exec(facts)?.[1]),
    log,
  };
}

/** Boxes that are too wide or too high, with their texts. */
function overfull(log: string): string[] {
  return log.match(/^Overfull.*(\n.*)?/gm) ?? [];
}

const smokeFolder = join(import.meta.dirname, "../../../..", "docs", "smoke");

const tools = ["pdflatex", "pdftotext", "pdfinfo"].filter((tool) => spawnSync(tool, ["-v"]).error);
const skip =
  tools.length > 0
    ? `${tools.join(" and ")} not found: install texlive-latex-recommended, texlive-science, lmodern and poppler-utils`
    : false;

test("pdfLaTeX compiles the nasty run's report and prints hostile text as text", { skip }, async (t) => {
  const { text, pages } = await compiledReport(t, nastyExample().report());
  assert.ok(pages >= 3, `${pages} pages`);
  assert.doesNotMatch(text, /root:/);
  assert.match(
    text,
    /Learning letters bits per byte of held-out 3\.030 ± 0\.014 2\.78 ± 0\.42 3\.070 2\.190 text ↓/,
  );
});

test("pdfLaTeX compiles the committed smoke run and prints every mean that decides a task", {
  skip,
}, (t) => {
  const report = JSON.parse(readFileSync(join(smokeFolder, "report.json"), "utf8")) as Report;
  const { text, firstPage, pages, log } = compiled(t, paper(Object.keys(filesOf(report))), filesOf(report));
  assert.ok(pages >= 3, `${pages} pages`);
  assert.deepEqual(overfull(log), []);
  assert.match(
    firstPage,
    /Table 1: Mean over attempts[\s\S]*MiniPile/,
    "the main table is on the first page",
  );
  assert.doesNotMatch(text, /com- mand/, "no short word is hyphenated");
  const primary = report.cells.filter((cell) => cell.primary);
  assert.ok(primary.length > 0);
  for (const cell of primary) {
    const { digits } = report.metrics.find(({ name }) => name === cell.metric)!;
    const mean = digitsText(cell.mean!, supportedDigits(digits, meanError(cell)));
    assert.ok(text.includes(mean), `${cell.task}: no ${mean}`);
  }
});

test("published values with their sources fit the page next to three agents", { skip }, async (t) => {
  const example = new Example({ label: "official", ranges: {} });
  for (const agent of ["plain", "strong", "an-agent-with-a-long-name"]) {
    for (const seed of [1, 2, 3]) {
      const axes = { task: "letters", agent, seed };
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${seed}` })
        .gives("validate", axes, seed === 3 ? verdict("disqualified") : passed)
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2 + seed / 10)));
    }
  }
  const rows = [
    { name: "unigram", value: 3, standardError: 0.02 },
    { name: "bigram", value: 1.5, standardError: 0.02 },
  ];
  example.gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows));
  const { text, log } = await compiledReport(t, example.report());
  assert.deepEqual(overfull(log), []);
  assert.match(text, /3\.000 1\.500 2\.100 \(n 4\) Someone/);
});

test("pdfLaTeX compiles agents whose names are LaTeX, and reads no file for them", { skip }, async (t) => {
  const agents = [
    "\\input{/etc/passwd}",
    "\\\\[1cm] * & % # $x_1^2$",
    "}\\end{document}",
    "\\write18{touch x}^^5c",
    "日本 -- ''quoted,, ?` fi \u202e",
  ];
  const { text, log } = await compiledReport(
    t,
    attempted(Object.fromEntries(agents.map((agent) => [agent, [2, 2.5, "disqualified"]])), agents.join(" ")),
  );
  assert.doesNotMatch(text, /root:/);
  assert.deepEqual(overfull(log), [], "their evidence stays on the page");
  assert.ok(text.includes("\\input{/etc/passwd}"), text);
  assert.ok(text.includes("Cost against score"), "it goes on to the end");
});

test("no table is wider than the page with six agents of long names", { skip }, async (t) => {
  const agents = Array.from({ length: 6 }, (_, index) => [`agent-with-a-long-name-${index}`, [2, 2.5, 3]]);
  const { log } = await compiledReport(t, attempted(Object.fromEntries(agents)));
  assert.deepEqual(overfull(log), []);
});

/** A paper: 5.5 in of text in Times, or two columns. */
const papers = {
  "NeurIPS-like": {
    options: "",
    page: "\\usepackage[textwidth=5.5in,textheight=9in,letterpaper]{geometry}",
    own: "table",
  },
  "two-column": {
    options: "[twocolumn]",
    page: "\\usepackage[margin=0.75in,letterpaper]{geometry}",
    own: "table*",
  },
};

/** Wide and long: five agents with long titles at seven tasks, costs of every kind. */
function paperReport(): Report {
  const report = JSON.parse(readFileSync(join(smokeFolder, "report.json"), "utf8")) as Report;
  const titles = ["GPT-4o with mlrb-2024", "Claude 3.5 Sonnet with mlrb-2024", "A coding CLI of its vendor"];
  const more = titles.map((title, at) => ({ ...report.agents[1]!, name: `agent-${at}`, title }));
  const copies = <T extends { agent: string }>(all: T[]) => [
    ...all,
    ...more.flatMap(({ name }) =>
      all.filter(({ agent }) => agent === "script-strong").map((one) => ({ ...one, agent: name })),
    ),
  ];
  return {
    ...report,
    agents: [...report.agents, ...more],
    cells: copies(report.cells),
    attempts: copies(report.attempts),
  };
}

for (const [name, { options, page, own }] of Object.entries(papers)) {
  test(`one \\input gives a captioned, labelled table in a ${name} article, and a bare tabular in a float`, {
    skip,
  }, (t) => {
    for (const report of [paperReport(), nastyExample().report()]) {
      const files = filesOf(report);
      const { text, log } = compiled(
        t,
        paper(
          Object.keys(files),
          [
            "See Table~\\ref{tab:mlrb-main} and Table~\\ref{mine}.",
            `\\begin{${own}}\\centering\\caption{My own caption}\\label{mine}\\input{tables/main}\\end{${own}}`,
          ],
          { options, page },
        ),
        files,
      );
      assert.deepEqual(overfull(log), []);
      const tables = Object.keys(files).length;
      assert.ok(text.includes(`See Table 1 and Table ${tables + 1}.`), text.slice(0, 300));
      for (let at = 1; at <= tables; at++) assert.ok(text.includes(`Table ${at}: `), `Table ${at}`);
      assert.ok(text.includes(`Table ${tables + 1}: My own caption`));
    }
  });
}
