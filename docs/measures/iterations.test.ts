// docs/measures/iterations.md describes the rules as they are.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { failurePatterns } from "@mlrb/core/iterations/failure-rules";
import { agreement, agreementText } from "@mlrb/core/iterations/testing/agreement";
import { labelledSet } from "../../scripts/iteration-agreement.ts";

const path = join(import.meta.dirname, "iterations.md");
const table = /\| part \| trajectories[\s\S]*?(?=\n\n)/;

test("the agreement table equals the agreement of the rules with the labelled set", () => {
  const now = agreementText(labelledSet());
  const text = readFileSync(path, "utf8");
  if (process.env.UPDATE_GOLDEN)
    writeFileSync(
      path,
      text.replace(table, () => now),
    );
  assert.equal(readFileSync(path, "utf8").match(table)?.[0], now);
});

test("the page lists every rule, in the order in which the rules are tried", () => {
  const rows = readFileSync(path, "utf8")
    .split("\n")
    .map(
      (line) =>
        /^\| ([a-z-]+) \| [a-z-]+(?:,| \|| as)/.exec(line)?.[1] ?? /^\| ([a-z-]+) \| as its/.exec(line)?.[1],
    );
  assert.deepEqual(
    rows.filter((name) => name !== undefined && failurePatterns.includes(name)),
    failurePatterns,
  );
});

test("the labelled set has 42 trajectories of four kinds, and half of those labelled before the rules are held out", () => {
  const set = labelledSet();
  const count = (split: string) => set.filter((one) => one.split === split).length;
  assert.equal(set.length, 42);
  assert.deepEqual([count("tuning"), count("held-out"), count("hard")], [15, 15, 12]);
  assert.deepEqual(
    new Set(set.map(({ kind }) => kind)),
    new Set(["scripted", "react", "supervisor-worker", "command"]),
  );
});

test("the rules differ from the labels in exactly these cases", () => {
  assert.deepEqual(agreement(labelledSet()).differ, [
    "hard-another-task: labelled agent-error, understand; found none, none",
    "hard-cli-never-measures: labelled agent-error, evaluate; found none, none",
    "hard-cosmetic-edits: labelled agent-error, decide; found none, none",
    "hard-cosmetic-edits: 1 iterations labelled, 3 found",
    "hard-forgets-what-it-did: labelled agent-error, plan; found agent-error, submit",
    "hard-tool-limit-again-and-again: labelled agent-error, plan; found agent-error, submit",
    "hard-train-numbers-as-dev: labelled agent-error, interpret; found agent-error, evaluate",
    "hard-trained-on-dev: labelled agent-error, data; found none, none",
  ]);
});
