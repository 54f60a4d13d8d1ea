import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@mlrb/formats/attempt/condition";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { csvFiles } from "../formats/csv-files.ts";
import { markdown } from "../formats/markdown.ts";
import { terminalTable } from "../formats/terminal-table.ts";
import { csvRows, csvText } from "../testing/csv-rows.ts";
import { Example, passed, scored, textItems } from "../testing/example.ts";
import { latex } from "../testing/latex.ts";

/** An official run of one task with an attempt of each condition. */
function run(...conditions: (Condition | undefined)[]): Example {
  const example = new Example({ label: "official" });
  for (const [seed, condition] of conditions.entries()) {
    const axes = { task: "letters", agent: "plain", seed };
    example.gives("attempt", axes, { submission: `sha256:${seed}` });
    if (condition !== undefined) Object.assign(example.members.at(-1)!, { condition });
    example
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  }
  return example;
}

test("every form of a report names the condition, also in the captions that are copied one by one", () => {
  const found = run("sealed", "sealed").report();
  assert.deepEqual(
    found.attempts.map(({ condition }) => condition),
    ["sealed", "sealed"],
  );
  assert.match(markdown(found), /^# .*\(official, sealed\)\n/);
  assert.match(
    terminalTable(found, { width: 100, color: false }),
    /\(official, sealed\)\n(?:.+\n)+Condition: sealed \(agents could only download through the gateway\)\. 2 attempts planned/,
  );
  const captions = latex(found).match(/\\caption\{.*/g) ?? [];
  assert.ok(captions.length > 3);
  for (const caption of captions) assert.match(caption, /\(official, sealed\)\}/);
  for (const file of Object.values(csvFiles(found)))
    for (const line of file.trim().split("\r\n").slice(1)) assert.match(line, /,sealed,/);
  assert.equal(csvRows(found, "scores").length, 2);
});

test("a report of attempts whose condition is unknown claims none", () => {
  const found = run(undefined, undefined).report();
  for (const text of [markdown(found), latex(found), csvText(found)])
    assert.doesNotMatch(text, /Condition|official, (open|sealed|no)/);
  assert.match(markdown(run("open", undefined).report()), /network\); unknown for 1 attempts\./);
});

test("attempts of two conditions make no report, whatever cell they are in", () => {
  assert.throws(
    () => run("open", "sealed").report(),
    /two conditions in one report: letters, plain, seed 0 \(open\) and letters, plain, seed 1 \(sealed\)/,
  );
  assert.throws(() => run("open", undefined, "no-network").report(), /two conditions/);
});

const authored: Ledger["replay"] = { recording: "authored", tools: "recorded" };

/** A run of one task in which each agent has one attempt, with or without a replay in its ledger. */
function replays(agents: Record<string, Ledger["replay"] | undefined>): Example {
  const example = new Example({ label: "smoke" });
  for (const [agent, replay] of Object.entries(agents)) {
    const axes = { task: "letters", agent, seed: 1 };
    const ledger = { ...exampleLedger(), ...(replay && { replay }) };
    example
      .gives("attempt", axes, { submission: `sha256:${agent}`, ledger })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(2)));
  }
  return example;
}

test("every form of a report of authored recordings says that no model was called", () => {
  const found = replays({ plain: authored, wide: authored }).report();
  assert.match(markdown(found), /^# .*\(smoke, authored recordings, no model was called\)\n/);
  assert.match(
    terminalTable(found, { width: 200, color: false }),
    /no model was called, and times and dollars/,
  );
  const captions = latex(found).match(/\\caption\{.*/g) ?? [];
  assert.ok(captions.length > 3);
  for (const caption of captions) assert.match(caption, /no model was called/);
  for (const file of Object.values(csvFiles(found)))
    for (const line of file.trim().split("\r\n").slice(1)) assert.match(line, /no model was called/);
});

test("no report holds authored replays beside other attempts, whether these are replays or not", () => {
  for (const other of [undefined, { recording: "recorded", tools: "recorded" } as const])
    assert.throws(
      () => replays({ plain: authored, wide: other }).report(),
      /an authored replay beside other attempts in one report: plain and wide at letters/,
    );
  const found = replays({ plain: { recording: "recorded", tools: "live" }, wide: undefined }).report();
  assert.doesNotMatch(markdown(found), /no model was called/);
  assert.match(markdown(found), /◇ replayed from the recording of an attempt/);
});
