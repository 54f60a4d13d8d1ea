import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskRule } from "@mlrb/formats/declared/task";
import type { RuleVerdict } from "@mlrb/formats/judged/verdict";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { isBounded, mayDisqualify, ruleEvidence } from "./rule-evidence.ts";
import { ruleMethods } from "./rule-methods.ts";
import { verdict } from "./verdict.ts";

test("72 honest models without a false alarm, or 110 with one, are enough", () => {
  assert.deepEqual(
    [71, 72].map((honest) => isBounded({ honest, falseAlarms: 0 })),
    [false, true],
  );
  assert.deepEqual(
    [109, 110].map((honest) => isBounded({ honest, falseAlarms: 1 })),
    [false, true],
  );
  assert.equal(isBounded({ honest: 0, falseAlarms: 0 }), false);
});

test("each measured method is one that a rule can name, or look-ahead", () => {
  const known = [...Object.keys(ruleMethods), "no-look-ahead"];
  for (const method of Object.keys(ruleEvidence)) assert.ok(known.includes(method), method);
});

const judged = (
  method: string,
  given: Pick<TaskRule, "with">,
  severity: "disqualify" | "note" = "disqualify",
) => {
  const rule = { name: "r", title: "", method, ...given, source: "official", severity } as const;
  const late = exampleLedger({ workingMs: 9_000_000 });
  const { kind, rules } = verdict(
    [rule],
    { formatVersion: 1, admitted: true, reasons: [] },
    { folder: import.meta.dirname, weights: [], ledger: late, budgetMs: 1000 },
  );
  const [{ answer, evidence, notMeasured }] = rules as [RuleVerdict];
  return [kind, answer, evidence, notMeasured] as const;
};

test("the rule of a measured method disqualifies", () => {
  assert.ok(mayDisqualify("time-within-budget"));
  assert.deepEqual(judged("time-within-budget", {}).slice(0, 2), ["disqualified", "fail"]);
});

test("the failed rule of a method that was not measured is undecided, and says that a person decides", (t) => {
  t.mock.property(ruleEvidence, "time-within-budget", { honest: 71, falseAlarms: 0, by: "", date: "" });
  const [kind, answer, evidence, notMeasured] = judged("time-within-budget", {});
  assert.deepEqual([kind, answer, notMeasured], ["undecided", "undecided", true]);
  assert.match(evidence, /^the ledger counts 9000000 ms.*a person decides \(attempts adjudicate\)$/);
  assert.deepEqual(judged("time-within-budget", {}, "note").slice(0, 2), ["pass", "fail"]);
});

test("look-ahead disqualifies by its measurement too", (t) => {
  const found = () =>
    verdict(
      [],
      {
        formatVersion: 1,
        admitted: true,
        reasons: [],
        lookAhead: { verdict: "looks-ahead", detail: "it gains" },
      },
      { folder: import.meta.dirname, weights: [], ledger: "", budgetMs: 1000 },
    ).kind;
  assert.equal(found(), "disqualified");
  t.mock.property(ruleEvidence, "no-look-ahead", { honest: 84, falseAlarms: 40, by: "", date: "" });
  assert.equal(found(), "undecided");
});
