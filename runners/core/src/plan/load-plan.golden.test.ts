// Every diagnostic as the user reads it, whole. The cases stand in golden/*.md.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { type GoldenCase, readGolden, updateGolden } from "../testing/golden-cases.ts";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { renderDiagnostic } from "../yaml/diagnostic.ts";
import { loadPlan, type PlanRequest } from "./load-plan.ts";

const source = join(import.meta.dirname, "..");
const kinds = ["task", "scorer", "agent", "judge", "rubric"];
const golden = join(import.meta.dirname, "../golden");
const groups = readdirSync(golden).filter((name) => name.endsWith(".md"));

function answer({ files, request }: GoldenCase): string {
  const asked = { file: "pipelines/test.yaml", ...request } as PlanRequest;
  const result = loadPlan(asked, memorySources({ ...repository, ...files }), ["local"]);
  return "plan" in result ? "no problems" : result.problems.map(renderDiagnostic).join("\n");
}

for (const group of groups) {
  suite(group, () => {
    const path = join(golden, group);
    const cases = readGolden(path);
    if (process.env.UPDATE_GOLDEN) updateGolden(path, new Map(cases.map((one) => [one.title, answer(one)])));
    for (const one of readGolden(path)) {
      test(one.title, () => assert.equal(answer(one), one.expected));
    }
  });
}

test("every diagnostic code of core has a golden case", () => {
  const sources = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const codes = sources.flatMap((name) => {
    const text = readFileSync(join(source, name), "utf8");
    return [...text.matchAll(/code: "([a-z0-9-]+)"/g)].map((match) => match[1]!);
  });
  const seen = groups.map((group) => readFileSync(join(golden, group), "utf8")).join("\n");
  // codes of selectInstances and of a file's bytes, which have tests of their own
  const elsewhere = ["nothing-selected", "blank-pattern", "not-utf8", "too-long"];
  const missing = [...new Set([...codes, ...kinds.map((kind) => `unknown-${kind}`)])].filter(
    (code) => !elsewhere.includes(code) && !new RegExp(`^(?:\\S+:\\d+:\\d+ )?${code}: `, "m").test(seen),
  );
  assert.deepEqual(missing, []);
});
