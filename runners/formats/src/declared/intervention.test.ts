// Which attempts the primary tables, rates, costs and estimates count: one rule for all of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isUndisturbed, noInterventions } from "./intervention.ts";

test("an attempt counts unless a person extended it or wrote to its agent", () => {
  assert.ok(isUndisturbed({}));
  assert.ok(isUndisturbed({ interventions: noInterventions }));
  assert.ok(!isUndisturbed({ interventions: { ...noInterventions, extensions: 1, addedMs: 1 } }));
  assert.ok(!isUndisturbed({ interventions: { ...noInterventions, extensions: 1 } }));
});
