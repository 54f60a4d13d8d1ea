import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { showReport } from "./show-report.ts";

process.env.COLUMNS = "100"; // a narrow terminal gets another layout
const sample = join(import.meta.dirname, "../../../../docs/sample");

async function shown(groups: boolean, main = false): Promise<string> {
  const said: string[] = [];
  const write = mock.method(process.stdout, "write", (text: string) => said.push(text) > 0);
  await showReport(sample, { groups, main });
  write.mock.restore();
  return said.join("");
}

test("scores by group are shown only with --groups", async () => {
  assert.doesNotMatch(await shown(false), /^Groups \(smoke\)$/m);
  const asked = await shown(true);
  assert.match(asked, /^Groups \(smoke\)$/m);
  assert.match(asked, /│ bits-per-byte ↓ +│ belles_lettres +│/);
});

test("the end of a run shows the label and the table of means, and no other table", async () => {
  const main = (await shown(false, true)).trimEnd().split("\n");
  const all = (await shown(false)).trimEnd().split("\n");
  assert.match(main[1]!, /\(smoke/);
  assert.match(main.join("\n"), /│ metric +│ +minimal │ +reference │ +trivial baseline │ +reference model │/);
  assert.equal(main.filter((line) => line.startsWith("┌")).length, 1);
  assert.ok(main.length < 60 && all.length > 10 * main.length, `${main.length} of ${all.length} lines`);
  const rows = (lines: string[]) => lines.filter((line) => /^│ bits-per-byte ↓ \*/.test(line));
  assert.deepEqual(rows(main)[0], rows(all)[0], "the same numbers as in the report");
});

test("a report of another format is refused with a remedy, and its tables are not printed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "show-report-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "report.json"), JSON.stringify({ formatVersion: 1, title: "An old report" }));
  const said: string[] = [];
  t.mock.method(process.stdout, "write", (text: string) => said.push(text) > 0);
  await showReport(folder);
  t.mock.restoreAll();
  const text = said.join("");
  assert.match(
    text,
    /report\.json is not a report of this version \(formatVersion is 1, not 5\): rerun the pipeline's report/,
  );
  assert.doesNotMatch(text, /An old report/);
});

test("a report of formatVersion 4 is upgraded and printed, and checked again by the next run", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "show-report-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const old = join(import.meta.dirname, "../../../report/golden/nasty-format-4.json.txt");
  copyFileSync(old, join(folder, "report.json"));
  const said: string[] = [];
  t.mock.method(process.stdout, "write", (text: string) => said.push(text) > 0);
  const shown = await showReport(folder);
  t.mock.restoreAll();
  assert.equal(shown?.followed, false);
  assert.match(said.join(""), /2 below the baseline/);
});
