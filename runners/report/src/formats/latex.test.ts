// What LaTeX would do with a report is asked of Debian's pdfLaTeX, where it is installed.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import fc from "fast-check";
import { smokeNote } from "../read/report-data.ts";
import { digitsText, meanError, supportedDigits } from "../sections/digits-text.ts";
import { anchorRows, Example, passed, scored, textItems, verdict } from "../testing/example.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { groupsLatex } from "./groups.ts";
import { latex } from "./latex.ts";
import { latexNumbers, latexText } from "./latex-text.ts";

test("no command, comment, alignment or formula of a text survives", () => {
  assert.equal(latexText("\\input{/etc/passwd}"), "\\textbackslash{}input\\{/etc/passwd\\}");
  assert.equal(
    latexText("50% & $x_1^2$ #~"),
    "50\\% \\& \\$x\\_1\\textasciicircum{}2\\$ \\#\\textasciitilde{}",
  );
  assert.equal(latexText("^^5cend"), "\\textasciicircum{}\\textasciicircum{}5cend");
  assert.equal(latexText("a\\\\[1cm]\n\nb"), "a\\textbackslash{}\\textbackslash{}{[}1cm{]} b");
});

test("characters that LaTeX would join stay separate", () => {
  assert.equal(latexText("--- ,, ''a'b'' <<"), "-{}-{}- ,{}, '{}'a'b'{}' \\textless{}\\textless{}");
});

test("numbers go through siunitx, and the text around them keeps its spaces", () => {
  assert.equal(latexNumbers("3.030 ± -0.127 (2/2)"), "\\num{3.030} $\\pm$ \\num{-0.127} (2/2)");
  assert.equal(latexNumbers("1.50e+300, v1.2.3"), "\\num{1.50e+300}, v\\num{1.2}.3");
});

test("characters that T1 lacks are named by their code points", () => {
  assert.equal(latexText("日本 é ↑ 🙂"), "{[}U+65E5 U+672C{]} é $\\uparrow$ {[}U+1F642{]}");
  assert.equal(latexText("e\u0301"), "é");
});

test("long words may break, so that text stays near its column", () => {
  assert.equal(latexText("x".repeat(45)).match(/\\allowbreak\{\}/g)!.length, 2);
  assert.doesNotMatch(latexText("short words only, as people write them"), /allowbreak/);
});

/** `text` without the commands that latexText writes, which must be all that LaTeX could act on. */
const written =
  /\\(?:text[a-z]+|ldots|allowbreak)\{\}|\\[{}$&#%_]|\$\\(?:pm|times|leq|geq|[a-z]*arrow)\$|\$-\$|\{[[\]*]\}|(?<=[-',])\{\}(?=[-',])/g;

test("any text becomes only known commands and harmless characters", () => {
  const hostile = fc.string({ unit: fc.constantFrom(..."\\{}$&#%_~^[]*`'\",-<>|@!?/ \n\tab0é日\u202e") });
  for (const texts of [hostile, fc.string({ unit: "binary" })]) {
    fc.assert(
      fc.property(texts, (text) => {
        const rest = latexText(text).replace(written, "");
        assert.doesNotMatch(rest, /[\\{}$&#%_~^[\]*"`\n]/);
        assert.match(rest, /^[\u0020-\u017e]*$/);
      }),
      { numRuns: 500 },
    );
  }
});

/** Agents by how their three attempts at letters went. */
function attempted(agents: Record<string, (number | "struck" | "missing")[]>, title?: string) {
  const titles = Object.fromEntries(Object.keys(agents).map((agent) => [agent, title ?? agent]));
  const example = new Example({ agents: titles, floors: { letters: { bits: 3 } } });
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
          fate === "struck" ? verdict("struck", { evidence: `${agent} ${"x".repeat(250)}` }) : passed,
        )
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(fate === "struck" ? 1 : fate)));
    }
  }
  return example.report();
}

test("the main table marks coverage, disqualified attempts and the mean over valid ones", () => {
  const text = latex(attempted({ plain: [2, 2.5, "struck"], strong: [2, 2.5, "missing"] }));
  const [, row] = text.match(/^letters & (.*) \\\\$/m)!;
  // 2, 2.5 and the floor 3; two measured of three are too few for an interval
  assert.match(
    row!,
    /^bits \$\\downarrow\$ & 2\.50 & 3\/3; 1 disqualified; valid 2\.25 \{\[\}0\.00, 5\.43\{\]\} \(n 2\) & 2\.25 & 2\/3; valid 2\.25 \(n 2\) & 3\.000 & \{unknown\}$/,
  );
});

test("every caption has the report's label or warning", () => {
  const text = latex(nastyExample().report());
  const captions = text.match(/\\caption\{.*/g)!;
  assert.ok(captions.length > 6);
  for (const caption of captions) assert.ok(caption.includes(latexText(smokeNote)), caption);
  assert.equal(text.match(/\\begin\{(?:long)?table\}/g)!.length, captions.length);
});

test("more agents than fit continue in further tables", () => {
  const agents = Object.fromEntries(["a", "b", "c", "d"].map((agent) => [agent, [2, 2.5, 3]]));
  const text = latex(attempted(agents));
  assert.match(text, /part 1 of 2/);
  assert.match(text, /part 2 of 2/);
  const results = text.slice(0, text.indexOf("\\subsection*{Tasks and agents}"));
  assert.equal(results.match(/^letters & /gm)!.length, 2);
});

/** The text of `tex` as a PDF has it, how many pages it has, and LaTeX's log; fails with its words. */
function compiled(t: TestContext, tex: string): { text: string; pages: number; log: string } {
  const folder = mkdtempSync(join(tmpdir(), "latex-"));
  t.after(() => rmSync(folder, { recursive: true }));
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
  assert.doesNotMatch(log, /^!|Missing character|undefined/m);
  execFileSync("pdftotext", ["-layout", "report.pdf"], { cwd: folder });
  const facts = execFileSync("pdfinfo", ["report.pdf"], { cwd: folder, encoding: "utf8" });
  return {
    text: readFileSync(join(folder, "report.txt"), "utf8").replaceAll(/\s+/g, " "),
    pages: Number(/^Pages: +(\d+)$/m.exec(facts)?.[1]),
    log,
  };
}

const tools = ["pdflatex", "pdftotext", "pdfinfo"].filter((tool) => spawnSync(tool, ["-v"]).error);
const skip =
  tools.length > 0
    ? `${tools.join(" and ")} not found: install texlive-latex-recommended, texlive-science, lmodern and poppler-utils`
    : false;

test("pdfLaTeX compiles the nasty run's report and prints hostile text as text", { skip }, (t) => {
  const { text, pages } = compiled(t, latex(nastyExample().report()));
  assert.ok(pages >= 3, `${pages} pages`);
  assert.ok(text.includes("Letters and Numbers (smoke, no network)"));
  assert.ok(text.includes("<b>**all rules** kept</b> gnp.exe =HYPERLINK("), text);
  assert.match(text, /letters bits ↓ 3\.030 2\/2; 1 2\.78 2\/2; 1 3\.070 2\.190/);
  assert.match(text, /letters bits ↓ 3\.070 to 2\.190 bigram 0\.04 0\.33/);
});

test("pdfLaTeX compiles groups.tex and prints hostile names as text", { skip }, (t) => {
  const { text, log } = compiled(t, groupsLatex(nastyExample().report()));
  assert.match(text, /Groups \(smoke\)/);
  assert.ok(text.includes("\\input{/etc/passwd} % & $x_1^2$"), text);
  assert.doesNotMatch(text, /root:/);
  assert.doesNotMatch(log, /Overfull \\hbox/);
});

test("pdfLaTeX compiles the committed sample and prints every mean that decides a task", {
  skip,
}, (t) => {
  const sample = join(import.meta.dirname, "../..", "..", "..", "docs", "sample");
  const report = JSON.parse(readFileSync(join(sample, "report.json"), "utf8")) as Report;
  const { text, pages, log } = compiled(t, readFileSync(join(sample, "report.tex"), "utf8"));
  assert.ok(pages >= 3, `${pages} pages`);
  assert.doesNotMatch(log, /Overfull \\hbox/);
  const primary = report.cells.filter((cell) => cell.primary);
  assert.ok(primary.length > 0);
  for (const cell of primary) {
    const { digits } = report.metrics.find(({ name }) => name === cell.metric)!;
    const mean = digitsText(cell.mean!, supportedDigits(digits, meanError(cell)));
    assert.ok(text.includes(mean), `${cell.task}: no ${mean}`);
  }
});

test("published values with their sources fit the page next to three agents", { skip }, (t) => {
  const example = new Example({ label: "official", ranges: {} });
  for (const agent of ["plain", "strong", "an-agent-with-a-long-name"]) {
    for (const seed of [1, 2, 3]) {
      const axes = { task: "letters", agent, seed };
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${seed}` })
        .gives("validate", axes, seed === 3 ? verdict("struck") : passed)
        .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2 + seed / 10)));
    }
  }
  const rows = [
    { name: "unigram", value: 3, standardError: 0.02 },
    { name: "bigram", value: 1.5, standardError: 0.02 },
  ];
  example.gives("anchors", { task: "letters", scorer: "bits" }, anchorRows("bits", rows));
  const { text, log } = compiled(t, latex(example.report()));
  assert.doesNotMatch(log, /Overfull \\hbox/);
  assert.match(text, /3\.000 1\.500 2\.100 \(n 4\) Someone/);
});

test("pdfLaTeX compiles agents whose names are LaTeX, and reads no file for them", { skip }, (t) => {
  const agents = [
    "\\input{/etc/passwd}",
    "\\\\[1cm] * & % # $x_1^2$",
    "}\\end{document}",
    "\\write18{touch x}^^5c",
    "日本 -- ''quoted,, ?` fi \u202e",
  ];
  const { text, log } = compiled(
    t,
    latex(
      attempted(Object.fromEntries(agents.map((agent) => [agent, [2, 2.5, "struck"]])), agents.join(" ")),
    ),
  );
  assert.doesNotMatch(text, /root:/);
  assert.doesNotMatch(log, /Overfull \\hbox/, "their evidence stays on the page");
  assert.ok(text.includes("\\input{/etc/passwd}"), text);
  assert.ok(text.includes("Attempts that kept the rules"), "it goes on to the end");
});

test("no table is wider than the page with six agents of long names", { skip }, (t) => {
  const agents = Array.from({ length: 6 }, (_, index) => [`agent-with-a-long-name-${index}`, [2, 2.5, 3]]);
  const { log } = compiled(t, latex(attempted(Object.fromEntries(agents))));
  assert.doesNotMatch(log, /Overfull \\hbox/);
});
