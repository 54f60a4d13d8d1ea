import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServedModel } from "@mlrb/formats/attempt/ledger";
import { changedModels, mergedServed, servedWords } from "./served-words.ts";

const served = (answeredBy: string | null, calls: number, fingerprint?: string): ServedModel => ({
  ...{ provider: "p", model: "alias", answeredBy, calls },
  ...(fingerprint !== undefined && { fingerprint }),
});

test("an alias that one dated model answers is no change", () => {
  assert.deepEqual(changedModels([served("alias-2024-08-06", 3)]), []);
});

test("a second model or a second configuration behind one requested model is a change", () => {
  const models = [served("alias-1", 3), served("alias-2", 1)];
  assert.deepEqual(changedModels(models), models);
  const configurations = [served("alias-1", 3, "fp_1"), served("alias-1", 2, "fp_2")];
  assert.deepEqual(changedModels(configurations), configurations);
  assert.equal(servedWords(configurations), "alias as alias-1 fp_1 (3 calls), alias-1 fp_2 (2 calls)");
});

test("an answer that names no model and no configuration is no change", () => {
  assert.deepEqual(changedModels([served("alias-1", 3, "fp_1"), served(null, 1)]), []);
});

test("two requested models with an answer each are no change", () => {
  const planner = { ...served("planner-1", 1), model: "planner" };
  assert.deepEqual(changedModels([planner, served("alias-1", 3)]), []);
  assert.equal(
    servedWords([planner, served(null, 3)]),
    "planner as planner-1 (1 call); alias as unnamed (3 calls)",
  );
});

test("equal models of several attempts become one, with the sum of their calls", () => {
  assert.deepEqual(mergedServed([served("a", 1), served("b", 1), served("a", 2)]), [
    served("a", 3),
    served("b", 1),
  ]);
});
