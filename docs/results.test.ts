// docs/guide.md has every column of every CSV file, and its example runs on the committed sample.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { resultRows } from "@mlrb/formats/report/result-tables";

const path = join(import.meta.dirname, "guide.md");
const text = readFileSync(path, "utf8");

type Column = { type?: string | readonly string[]; enum?: readonly string[]; description?: string };

/** A table for each file of the columns with a meaning that no file before it has; the others by name. */
function columnsText(): string {
  const firstWith = new Map<string, string>();
  return Object.entries(resultRows)
    .map(([name, { properties }]) => {
      const rows: string[] = [];
      const others = new Map<string, string[]>();
      for (const [column, { description }] of Object.entries(properties as Record<string, Column>)) {
        const row = `| \`${column}\` | ${typeText(properties, column)} | ${description} |`;
        const earlier = description ? firstWith.get(row) : "";
        if (earlier === undefined) {
          rows.push(row);
          firstWith.set(row, name);
        } else {
          const where = earlier ? `As in ${earlier}.csv` : "Also";
          others.set(where, [...(others.get(where) ?? []), `\`${column}\``]);
        }
      }
      const named = [...others].map(([where, columns]) => `${where}: ${columns.join(", ")}.`).join(" ");
      return `### ${name}.csv\n\n| column | type | meaning |\n|---|---|---|\n${rows.join("\n")}\n\n${named}\n`;
    })
    .join("\n");
}

/** `number`, or the values of an enumeration; the empty cell is not said. */
function typeText(properties: object, column: string): string {
  const { type, enum: values } = (properties as Record<string, Column>)[column]!;
  if (values) return values.join(", ");
  return [type ?? []]
    .flat()
    .filter((one) => one !== "null")
    .join(" or ");
}

test("docs/guide.md describes every column once, as the schema does", () => {
  const block = `<!-- columns -->\n\n${columnsText()}\n<!-- /columns -->`;
  const expected = text.replace(/<!-- columns -->[\s\S]*<!-- \/columns -->/, () => block);
  if (process.env.UPDATE_GOLDEN) writeFileSync(path, expected);
  assert.equal(readFileSync(path, "utf8"), expected, "UPDATE_GOLDEN=1 writes it");
});

const python = process.env.MLRB_PYTHON;
const hasPandas = python !== undefined && spawnSync(python, ["-c", "import pandas"]).status === 0;

test("the example with pandas prints the mean of every task of the sample", {
  skip: hasPandas ? false : "needs MLRB_PYTHON with pandas",
}, () => {
  const [, code] = /```python\n([\s\S]*?)```/.exec(text)!;
  assert.ok(code!.trim().split("\n").length <= 10, "ten lines");
  const sample = join(import.meta.dirname, "sample");
  const { status, stdout, stderr } = spawnSync(python!, ["-c", code!, sample], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const { cells } = JSON.parse(readFileSync(join(sample, "report.json"), "utf8")) as Report;
  for (const [task, own] of Map.groupBy(cells, (cell) => cell.task)) {
    const means = own.flatMap(({ primary, mean }) => (primary ? [mean!.toFixed(3)] : []));
    assert.match(stdout, new RegExp(`^${[task, ...means].join(" +")}$`, "m"));
  }
});
