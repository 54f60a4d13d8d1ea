import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runPastDeadline, submissionFiles } from "../testing/run-script.ts";
import { makeItems } from "./items.ts";

const temporary = mkdtempSync(join(tmpdir(), "mlrb-math-scripts-"));
after(() => rmSync(temporary, { recursive: true }));

for (const agent of ["weak", "strong"]) {
  test(`${agent} submits a whole model and its record when the deadline leaves no time to train`, () => {
    const workspace = join(temporary, agent);
    mkdirSync(join(workspace, "data"), { recursive: true });
    const items = makeItems();
    for (const part of ["train", "dev"] as const) {
      const rows = items[part].slice(0, 30).map((item) => `${JSON.stringify(item)}\n`);
      writeFileSync(join(workspace, `data/${part}.jsonl`), rows.join(""));
    }
    const { submission, status, stdout, stderr } = runPastDeadline("math-reasoning", { agent, workspace });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /the deadline is near: stopped after 0 of \d+ steps/);
    assert.deepEqual(readdirSync(submission).sort(), [...submissionFiles, "prompt.json"].sort());
    const read = (file: string) => JSON.parse(readFileSync(join(submission, file), "utf8"));
    const provenance = read("provenance.json");
    assert.deepEqual([provenance.data, provenance.trainTokens], [["house-math"], 0]);
    assert.match(read("prompt.json").template, /\{\{informal_statement\}\}/);
    const iteration = JSON.parse(readFileSync(join(workspace, "iterations.jsonl"), "utf8"));
    assert.deepEqual(iteration.metric, { name: "exact-match", split: "dev", value: 0 });
  });
}

test("every item of the data fits the agents' context and the answer's limit", () => {
  const words = (text: string) => text.match(/\w+(?:\.\w+)*|:=|=>|[^\w\s]/gu)!.length;
  for (const items of Object.values(makeItems())) {
    for (const { informal_statement, formal_proof } of items) {
      assert.ok(words(formal_proof) <= 96, formal_proof);
      assert.ok(words(informal_statement) + words(formal_proof) + 1 <= 160, informal_statement);
    }
  }
});
