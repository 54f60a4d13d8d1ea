// The tables in docs/failures.md are the ones that the supervisor uses.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { costlyTriesMax, modelCauses } from "@mlrb/agents/model/failure-causes";

const path = join(import.meta.dirname, "failures.md");
const text = readFileSync(path, "utf8");
const from = text.indexOf("\n", text.indexOf("<!-- model causes:")) + 1;
const to = text.indexOf("<!-- end -->", from);

const rowsOf = (table: string) =>
  [...table.matchAll(/^\| `([\w-]+)` \|(.*)\|$/gmu)].map(([, cause, cells]) => ({
    cause: cause!,
    cells: cells!.split(" | ").map((cell) => cell.trim()),
  }));

test("docs/failures.md prints the table of the code, with the symptom of each cause and the attempt's end", () => {
  assert.ok(from > 0 && to > from, "docs/failures.md has no place for the causes of failed tries");
  const written = new Map(rowsOf(text.slice(from, to)).map(({ cause, cells }) => [cause, cells]));
  const head = text.slice(from, to).split("\n").slice(0, 2);
  const rows = Object.entries(modelCauses).map(([cause, { whose, retry, time, tokens, wayOut }]) => {
    const [symptom = "", , , , , attempt = ""] = written.get(cause) ?? [];
    assert.ok(symptom && attempt, `docs/failures.md: write the symptom of ${cause} and the attempt's end`);
    const cells = [`\`${cause}\``, symptom, whose, retry.replaceAll("-", " "), time, tokens, attempt];
    return `| ${[...cells, wayOut ?? ""].join(" | ")} |`;
  });
  const made = `${[...head, ...rows].join("\n")}\n`;
  if (process.env.UPDATE_GOLDEN) writeFileSync(path, text.slice(0, from) + made + text.slice(to));
  else assert.equal(text.slice(from, to), made, "UPDATE_GOLDEN=1 node --test docs/failures.test.ts");
});

test("a cause that is not the agent's neither counts as work nor leaves the attempt measured", () => {
  const others = text.slice(text.indexOf("## Other causes"));
  for (const { cause, cells } of [...rowsOf(text.slice(from, to)), ...rowsOf(others)]) {
    const [, whose = "", , time, , attempt, wayOut] = cells;
    const agents = whose.startsWith("agent-");
    if (agents) assert.notEqual(attempt, "not measured", cause);
    else assert.notEqual(attempt, "measured", cause);
    if (cause in modelCauses && !agents) assert.notEqual(time, "work", cause);
    if (attempt === "not measured") assert.ok(wayOut, `${cause} has no way out`);
  }
});

test("docs/failures.md states the maximum number of costly tries", () => {
  assert.ok(text.includes(`at most ${costlyTriesMax} times`));
});
