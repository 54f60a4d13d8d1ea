import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { judgeChecks } from "@mlrb/formats/judged/judge-check";
import { readFormat } from "@mlrb/formats/read-format";
import { checkedJudge } from "@mlrb/report/testing/judge-example";

test("the checks of all judges become one JSON and one Markdown, and a failed one is named", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "judge-check-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "check.json"), JSON.stringify(checkedJudge()));
  const member = (judge: string) => ({
    ...{ stage: `judge-check[judge=${judge}]`, name: "judge-check", axes: { judge, rubric: "leaks" } },
  });
  const artifacts = { check: { digest: "sha256:1", kind: "file", path: "check.json" } };
  const members = [
    { ...member("one"), outcome: "succeeded", cause: "", artifacts },
    { ...member("two"), outcome: "failed", cause: "no | key", artifacts: {} },
  ];
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ formatVersion: 1, members }));
  const out = (name: string) => join(folder, `judge-check.${name}`);
  const outputs = { checks: out("json"), markdown: out("md") };
  const flags = Object.entries(outputs).flatMap(([name, path]) => ["--output", `${name}=${path}`]);
  const script = join(import.meta.dirname, "judge-check-tables.ts");
  execFileSync(process.execPath, [script, "--input", `manifest=${join(folder, "manifest.json")}`, ...flags], {
    env: { ...process.env, MLRB_STAGE: "" },
  });
  const read = readFormat(judgeChecks, readFileSync(outputs.checks, "utf8"));
  assert(read.kind === "ok", JSON.stringify(read));
  assert.deepEqual(read.value.checks, [checkedJudge()]);
  assert.deepEqual(read.value.missing, [{ stage: "judge-check[judge=two]", cause: "no | key" }]);
  const markdown = readFileSync(outputs.markdown, "utf8");
  assert.match(markdown, /^\| copied \| held out \| 3 \(1 yes\) \|/m);
  assert.match(markdown, /no result: no \\\| key/);
});
