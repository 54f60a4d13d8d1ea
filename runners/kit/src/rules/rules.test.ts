import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { TaskRule } from "@mlrb/formats/declared/task";
import type { MemoryMeasurement } from "@mlrb/formats/judged/memory";
import { float32, type NewTensor } from "../safetensors/testing/safetensors-bytes.ts";
import type { Json } from "../stage.ts";
import { fingerprint } from "./fingerprint.ts";
import type { RuleContext } from "./rule-method.ts";
import { ruleMethods, ruleProblems } from "./rule-methods.ts";
import { ruleParams } from "./rule-params.ts";
import { rulesOn } from "./rules-on.ts";
import { half, root, values, weights } from "./testing/weights.ts";
import { verdict } from "./verdict.ts";

const model = weights({ a: float32([64, 48], values(1, 64 * 48)), b: float32([48, 48], values(2, 48 * 48)) });

const ledger: Ledger = {
  formatVersion: 1,
  budget: { wallMs: 600_000 },
  wallMs: 1000,
  workingMs: 1000,
  tokens: null,
  dollars: null,
  usage: null,
  gpuHours: 0,
  gpuBusyMs: null,
  ended: "finished",
  exit: { code: 0 },
  submission: { digest: "", files: 1, bytes: 1, leftOut: [], overLimits: null },
  trajectory: { lines: 1, head: "" },
};

function decide(method: string, context: Partial<RuleContext>, given: Record<string, Json> = {}) {
  assert.equal(ruleMethods[method]!.problem(given), undefined);
  const base = { folder: root, weights: undefined, ledger, budgetMs: 600_000 };
  return ruleMethods[method]!.decide!({ ...base, ...context }, given);
}

test("constant tensors and vectors are no part of a fingerprint", () => {
  const own = weights({
    mask: float32([64, 48], Array(64 * 48).fill(1)),
    norm: float32([4096], values(1, 4096)),
    own: float32([48, 48], values(8, 48 * 48)),
  });
  const from = fingerprint({ name: "", source: "", licence: "" }, own);
  assert.deepEqual(
    from.tensors.map(({ name }) => name),
    ["own"],
  );
});

test("weights that were not compared, or not admitted, keep no rule on whose they are", () => {
  const given = { models: ["base"] };
  for (const [method, asked] of [
    ["from-scratch", {}],
    ["base-approved", given],
    ["changed", given],
    ["merge-explained", given],
    ["compressed-base", { model: "base" }],
  ] as const) {
    const { answer, evidence } = decide(method, { weights: model }, asked as Record<string, Json>);
    assert.deepEqual([answer, evidence.includes("no stage `identity`")], ["undecided", true], method);
    assert.match(decide(method, {}, asked as Record<string, Json>).evidence, /not admitted/);
  }
});

test("dtypes and parameters are read from the headers", () => {
  const mixed = weights({ a: float32([2, 3], values(1, 6)), b: half([4], [1, 2, 3, 4], "BF16") });
  assert.deepEqual(decide("safetensors-dtype", { weights: mixed }, { allowed: ["F32", "F16"] }), {
    answer: "fail",
    evidence: 'BF16 found, e.g. tensor "b"; allowed: F32, F16',
  });
  assert.equal(decide("safetensors-dtype", { weights: mixed }, { allowed: ["F32", "BF16"] }).answer, "pass");
  assert.equal(decide("parameters-max", { weights: mixed }, { max: 10 }).answer, "pass");
  assert.deepEqual(decide("parameters-max", { weights: mixed }, { max: 9 }), {
    answer: "fail",
    evidence: "10 parameters; at most 9 are allowed",
  });
});

// as GPT-2, GPT-NeoX, CodeGen and BERT stored them in older versions of transformers
const tables: Record<string, NewTensor> = {
  "h.0.attn.bias": { dtype: "U8", shape: [1, 1, 8, 8], bytes: new Uint8Array(64) },
  "layers.0.attention.bias": { dtype: "BOOL", shape: [1, 1, 8, 8], bytes: new Uint8Array(64) },
  "h.0.attn.causal_mask": { dtype: "BOOL", shape: [1, 1, 8, 8], bytes: new Uint8Array(64) },
  "h.0.attn.masked_bias": { dtype: "I32", shape: [], bytes: new Uint8Array(4) },
  "embeddings.position_ids": { dtype: "I64", shape: [1, 8], bytes: new Uint8Array(64) },
  "embeddings.token_type_ids": { dtype: "I64", shape: [1, 8], bytes: new Uint8Array(64) },
  "norm.num_batches_tracked": { dtype: "I64", shape: [], bytes: new Uint8Array(8) },
};

test("masks and position ids that a library stored as integers or booleans are no weights", () => {
  for (const [name, table] of Object.entries(tables)) {
    const honest = weights({ a: float32([2, 3], values(1, 6)), [name]: table });
    assert.deepEqual(
      decide("safetensors-dtype", { weights: honest }, { allowed: ["F32"] }),
      { answer: "pass", evidence: "all weights are F32" },
      name,
    );
    assert.equal(decide("parameters-max", { weights: honest }, { max: 6 }).answer, "pass", name);
  }
});

test("no name makes a matrix or a vector of integers a table", () => {
  const [matrix, vector] = [
    { dtype: "I8", shape: [4, 8], bytes: new Uint8Array(32) },
    { dtype: "I8", shape: [32], bytes: new Uint8Array(32) },
  ];
  for (const name of Object.keys(tables))
    for (const tensor of name.endsWith("_ids") ? [matrix] : [matrix, vector]) {
      const quantised = weights({ a: float32([2, 3], values(1, 6)), [name]: tensor });
      assert.equal(decide("safetensors-dtype", { weights: quantised }, { allowed: ["F32"] }).answer, "fail");
      assert.equal(decide("parameters-max", { weights: quantised }, { max: 100 }).answer, "undecided");
    }
  const alone = weights({ "h.0.attn.bias": tables["h.0.attn.bias"]! });
  assert.equal(decide("safetensors-dtype", { weights: alone }, { allowed: ["F32"] }).answer, "undecided");
});

test("packed integers do not pass for few parameters", () => {
  const packed = weights({ q: { dtype: "U8", shape: [8], bytes: new Uint8Array(8) } });
  assert.equal(decide("parameters-max", { weights: packed }, { max: 100 }).answer, "undecided");
});

test("time is judged by the ledger, and a pass names no duration", () => {
  // waiting for a rate limit is not work
  const waited = { wallMs: 900_000, workingMs: 500_000 };
  for (const changed of [{}, waited, { workingMs: 600_900, ended: "time-limit" as const }]) {
    const { answer, evidence } = decide("time-within-budget", { ledger: { ...ledger, ...changed } });
    assert.equal(answer, "pass");
    assert.doesNotMatch(evidence, /\d/);
  }
  assert.equal(decide("time-within-budget", { ledger: { ...ledger, workingMs: 700_000 } }).answer, "fail");
  assert.deepEqual(decide("time-within-budget", { ledger: "the trajectory is broken at line 3" }), {
    answer: "undecided",
    evidence: "the trajectory is broken at line 3",
  });
});

test("declared data can fail a rule, and a missing or odd declaration leaves it open", () => {
  const answer = (text?: string) => {
    const folder = mkdtempSync(join(root, "p-"));
    if (text !== undefined) writeFileSync(join(folder, "provenance.json"), text);
    return decide("provenance-data", { folder }, { allowed: ["brown"] }).answer;
  };
  assert.equal(answer('{"data":["brown"]}'), "pass");
  assert.equal(answer('{"data":[{"name":"brown","sha256":"x"}]}'), "pass");
  assert.equal(answer('{"data":["brown","mmlu"]}'), "fail");
  // the evidence of every answer that rests on the file says whose statement it is
  const given = { data: ["brown"], base: "Mistral-7B" };
  for (const [method, argument] of [
    ["provenance-data", { allowed: ["brown"] }],
    ["provenance-data", { allowed: ["books"] }],
    ["not-trained-on", { names: ["mmlu"] }],
    ["not-trained-on", { names: ["brown"] }],
    ["provenance-base", { families: ["Mistral"] }],
    ["provenance-base", { families: ["Llama"] }],
  ] as const)
    assert.match(
      declared(method, argument as unknown as Record<string, Json>)(given).evidence,
      /^stated by the agent, not verified: /,
    );
  const odd = [
    undefined,
    "",
    "{",
    "[]",
    "{}",
    '{"data":[]}',
    '{"data":[null]}',
    '{"data":{"brown":1}}',
    "[".repeat(1e5),
  ];
  for (const text of odd) assert.equal(answer(text), "undecided", text?.slice(0, 20) ?? "absent");
});

const declared = (method: string, given: Record<string, Json>) => (provenance: unknown) => {
  const folder = mkdtempSync(join(root, "p-"));
  writeFileSync(join(folder, "provenance.json"), JSON.stringify(provenance));
  return decide(method, { folder }, given);
};

test("data that must not be trained on is found under other spellings, and only declared data passes", () => {
  const of = declared("not-trained-on", { names: ["mmlu", "hendrycks_test"] });
  for (const name of ["cais/mmlu", "MMLU-Pro", "hendrycksTest", "lukaemon/Hendrycks-Test"])
    assert.equal(of({ data: ["open-web", { name }] }).answer, "fail", name);
  assert.match(
    of({ data: ["cais/mmlu"] }).evidence,
    /"cais\/mmlu"; not to be trained on: mmlu, hendrycks_test$/,
  );
  assert.match(
    of({ data: ["dolly", "mm", "lu"] }).evidence,
    /^stated by the agent, not verified: none of mmlu, /,
  );
  for (const odd of [{}, { data: [] }, { data: [null] }, [], "mmlu", null])
    assert.equal(of(odd).answer, "undecided", JSON.stringify(odd));
});

test("a declared base of no approved family fails, and a missing one leaves the question open", () => {
  const of = declared("provenance-base", { families: ["Llama 2", "GPT-NeoX", "Mistral"] });
  for (const base of [
    "meta-llama/Llama-2-7b-hf",
    "EleutherAI/gpt-neox-20b",
    { name: "mistralai/Mistral-7B-v0.1" },
  ])
    assert.equal(of({ base }).answer, "pass", JSON.stringify(base));
  for (const base of ["microsoft/phi-2", "meta-llama/Meta-Llama-3-8B", "EleutherAI/gpt-neo-1.3B"])
    assert.equal(of({ base }).answer, "fail", base);
  for (const odd of [
    {},
    { base: null },
    { base: "" },
    { base: "//" },
    { base: 7 },
    { base: ["Mistral"] },
    [],
  ])
    assert.equal(of(odd).answer, "undecided", JSON.stringify(odd));
});

const rule = (changes: Partial<TaskRule>): TaskRule => ({
  name: "size",
  title: "Small",
  method: "parameters-max",
  with: { max: 5 },
  source: "official",
  severity: "disqualify",
  ...changes,
});

test("mistakes in a task's rules are all named at once", () => {
  const problems = ruleProblems([
    rule({}),
    rule({}),
    rule({ name: "a", method: "magic" }),
    rule({ name: "b", method: "constructor" }),
    rule({ name: "c", with: { max: "5" } }),
    rule({ name: "d", method: "from-scratch", with: { against: [] } }),
    rule({ name: "e", method: "safetensors-dtype", with: { allowed: [] } }),
    rule({ name: "f", method: "compressed-base", with: { models: "base" } }),
    rule({ name: "g", method: "base-approved", with: {} }),
    rule({ name: "h", on: ["smoke"] }),
    rule({ name: "h", on: ["official"] }),
    rule({ name: "h", on: ["paper", "smoke"] }),
    rule({ name: "i", on: ["smoke"] }),
    rule({ name: "i" }),
  ]);
  const known = Object.keys(ruleMethods).join(", ");
  assert.deepEqual(problems, [
    'rule "size": appears twice for the same kind of data',
    `rule "a": no method "magic"; there are ${known}`,
    `rule "b": no method "constructor"; there are ${known}`,
    'rule "c": parameters-max takes { max: whole number }, got {"max":"5"}',
    'rule "d": from-scratch takes no arguments, got against',
    'rule "e": safetensors-dtype takes { allowed: [text, …] }, got {"allowed":[]}',
    'rule "f": compressed-base takes { model: name }, got {"models":"base"}',
    'rule "g": base-approved takes { models: [text, …] }, got {}',
    'rule "h": appears twice for the same kind of data',
    'rule "i": appears twice for the same kind of data',
  ]);
});

test("for malformed rules the field is named", () => {
  for (const [changed, says] of [
    [rule({ severity: "fatal" as "note" }), /rules\.0\.severity is "fatal", not one of disqualify, note/],
    [null, /rules\.0 is null, not an object/],
    [rule({ on: [] }), /rules\.0\.on is empty/],
  ] as const)
    assert.throws(() => ruleParams({ rules: [changed], data: "smoke" } as never), says);
  assert.throws(() => ruleParams({ rules: [rule({})] }), /data is missing/);
});

test("a rule without kinds applies to all data, one with kinds to these", () => {
  const rules = [
    rule({}),
    rule({ name: "a", on: ["smoke"] }),
    rule({ name: "b", on: ["official", "paper"] }),
  ];
  const names = (kind: string) => rulesOn(rules, kind).map(({ name }) => name);
  assert.deepEqual(names("smoke"), ["size", "a"]);
  assert.deepEqual(names("paper"), ["size", "b"]);
  assert.deepEqual(names("other"), ["size"]);
});

test("a rule whose method throws on a submission's content is undecided, and an error of the system ends the stage", () => {
  const judged = (error: Error) => {
    const memory: MemoryMeasurement[] = [];
    memory.find = () => {
      throw error;
    };
    const context = { folder: root, weights: model, ledger, budgetMs: 1, memory };
    const given = rule({ method: "memory-max", with: { bytes: 1, tokens: 1 } });
    return verdict([given], { formatVersion: 1, admitted: true, reasons: [] }, context);
  };
  const found = judged(new RangeError("Maximum call stack size exceeded"));
  assert.equal(found.kind, "undecided");
  assert.match(
    found.rules[0]!.evidence,
    /method fails on it: RangeError: "Maximum call stack size exceeded"/,
  );
  assert.throws(() => judged(Object.assign(new Error("full"), { errno: -28 })), /full/);
});

test("a failed disqualifying rule disqualifies, an undecided one leaves the attempt undecided, and notes do neither", () => {
  const admitted = { formatVersion: 1, admitted: true, reasons: [] } as const;
  const context: RuleContext = {
    folder: root,
    weights: model,
    ledger,
    budgetMs: 600_000,
  };
  const kind = (changes: Partial<TaskRule>) =>
    verdict([rule(changes)], { ...admitted, reasons: [] }, context).kind;
  assert.equal(kind({}), "disqualified");
  assert.equal(kind({ severity: "note" }), "pass");
  assert.equal(kind({ with: { max: 1e6 } }), "pass");
  const open = { method: "provenance-data", with: { allowed: ["brown"] } };
  assert.equal(kind(open), "undecided");
  assert.equal(kind({ ...open, severity: "note" }), "pass");
  const rejected = verdict(
    [rule({})],
    { formatVersion: 1, admitted: false, reasons: [{ code: "empty", detail: "" }] },
    { ...context, weights: undefined },
  );
  assert.deepEqual([rejected.kind, rejected.rules[0]!.answer, rejected.facts], ["rejected", "undecided", {}]);
});
