import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { checkedJudge } from "@mlrb/report/testing/judge-example";
import { showReport } from "./show-report.ts";

process.env.COLUMNS = "100"; // a narrow terminal gets another layout
const sample = join(import.meta.dirname, "../../../../docs/smoke");

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
  assert.match(
    main.join("\n"),
    /│ metric +│ +script-strong │ +script-weak │ +trivial baseline │ +reference model │/,
  );
  assert.equal(main.filter((line) => line.startsWith("┌")).length, 1);
  assert.ok(main.length < 60 && all.length > 10 * main.length, `${main.length} of ${all.length} lines`);
  const rows = (lines: string[]) => lines.filter((line) => /^│ bits-per-byte ↓ \*/.test(line));
  assert.deepEqual(rows(main)[0], rows(all)[0], "the same numbers as in the report");
});

for (const formatVersion of [0, 2])
  test(`a report of format ${formatVersion} is refused with a remedy, and its tables are not printed`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "show-report-"));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(
      join(folder, "report.json"),
      JSON.stringify({ formatVersion, title: "Of another version" }),
    );
    const said: string[] = [];
    t.mock.method(process.stdout, "write", (text: string) => said.push(text) > 0);
    await showReport(folder);
    t.mock.restoreAll();
    const cause = `formatVersion is ${formatVersion}, not 1`;
    assert.equal(
      said.join(""),
      `\n${folder}/report.json is not a report of this version (${cause}): rerun the pipeline's report stage\n`,
    );
  });

test("a check of judges is printed as its tables, and another file of that name is not", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "show-report-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const said: string[] = [];
  t.mock.method(process.stdout, "write", (text: string) => said.push(text) > 0);
  writeFileSync(join(folder, "judge-check.json"), JSON.stringify({ mine: true }));
  await showReport(folder);
  const before = said.join("");
  const made = { formatVersion: 1, checks: [checkedJudge()], missing: [] };
  writeFileSync(join(folder, "judge-check.json"), JSON.stringify(made));
  await showReport(folder);
  t.mock.restoreAll();
  assert.equal(before, "");
  assert.match(
    said.join(""),
    /│ copied +│ held out +│ +3 \(1 yes\) │ +0 │ +1 │ +1 │ +0 │ 1 unsupported │ +3 of 3 │/,
  );
});
