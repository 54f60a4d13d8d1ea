import assert from "node:assert/strict";
import { test } from "node:test";
import { readSheet, sheetAgreement } from "./label-agreement.ts";

const sheet = (...rows: string[]) => readSheet("sheet.csv", ["attempt,who,where", ...rows].join("\r\n"));

test("two sheets in different orders are compared attempt by attempt", () => {
  const one = sheet("a,agent-error,train", "b,none,none", "c,agent-error,plan", "d,,");
  const other = sheet("c,agent-error,data", "a,agent-error,train", "d,none,none", "b,none,none");
  assert.deepEqual(sheetAgreement(one, other), [
    "who: 3 of 3 attempts agree, kappa 1.00; 1 without two answers",
    "where: 2 of 3 attempts agree, kappa 0.57; 1 without two answers",
    "  c: plan and data",
  ]);
});

test("an answer that no sheet may hold is refused, with its place and the possible answers", () => {
  assert.throws(
    () => sheet("a,agent-error,trian"),
    /row 2, column where: "trian" is none of understand, plan/,
  );
  assert.throws(() => sheet("a,none,none", "a,none,none"), /row 3 labels a again/);
});
