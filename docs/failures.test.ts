// The tables in docs/failures.md are the ones that the supervisor uses.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  attemptCauses,
  costlyTriesMax,
  type FailureCause,
  modelCauses,
} from "@mlrb/agents/model/failure-causes";

const path = join(import.meta.dirname, "failures.md");

function table(causes: Record<string, FailureCause>): string {
  const rows = Object.entries(causes).map(([cause, row]) => [
    `\`${cause}\``,
    row.shows,
    row.whose,
    row.retry.replaceAll("-", " "),
    row.time,
    row.tokens,
    row.attempt,
    row.wayOut ?? "",
  ]);
  const head = [
    "Cause",
    "Symptom",
    "Responsible",
    "Retry",
    "Time counts as",
    "Tokens",
    "Attempt",
    "What to do",
  ];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

for (const [name, causes] of [
  ["model causes", modelCauses],
  ["attempt causes", attemptCauses],
] as const)
  test(`docs/failures.md prints the ${name} of the code`, () => {
    const text = readFileSync(path, "utf8");
    const [begin, end] = [
      text.indexOf(`<!-- ${name}:`),
      text.indexOf("<!-- end -->", text.indexOf(`<!-- ${name}:`)),
    ];
    assert.ok(begin >= 0 && end > begin, `docs/failures.md has no place for the ${name}`);
    const from = text.indexOf("\n", begin) + 1;
    const made = `${table(causes)}\n`;
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, text.slice(0, from) + made + text.slice(end));
    else assert.equal(text.slice(from, end), made, "UPDATE_GOLDEN=1 node --test docs/failures.test.ts");
  });

test("a cause that is not the agent's neither counts as work nor leaves the attempt measured", () => {
  for (const [cause, row] of Object.entries({ ...modelCauses, ...attemptCauses } as Record<
    string,
    FailureCause
  >)) {
    const agents = row.whose.startsWith("agent-");
    if (agents) assert.notEqual(row.attempt, "not measured", cause);
    else assert.notEqual(row.attempt, "measured", cause);
    if (cause in modelCauses && !agents) assert.notEqual(row.time, "work", cause);
    if (row.attempt === "not measured") assert.ok(row.wayOut, `${cause} has no way out`);
  }
});

test("docs/failures.md states the maximum number of costly tries", () => {
  assert.ok(readFileSync(path, "utf8").includes(`at most ${costlyTriesMax} times`));
});
