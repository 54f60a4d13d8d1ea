import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { showReport } from "./show-report.ts";

test("a report of another format is named with the way out, and its tables are not printed", async (t) => {
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
    /report\.json is of format 1, and this version prints format 3: run the pipeline's report/,
  );
  assert.doesNotMatch(text, /An old report/);
});
