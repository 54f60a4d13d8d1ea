// Rules on data, bases and experts in the sealed condition, where the download gateway recorded what entered.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ModelFile, RecordedRepository } from "../attempts/recorded-downloads.ts";
import { ruleMethods } from "./rule-methods.ts";
import { root } from "./testing/weights.ts";

function finding(
  method: string,
  given: Record<string, string[] | string | number>,
  { downloads, declared = {} }: { downloads?: RecordedRepository[]; declared?: object },
) {
  const folder = mkdtempSync(join(root, "sealed-"));
  writeFileSync(join(folder, "provenance.json"), JSON.stringify(declared));
  const rule = ruleMethods[method]!;
  assert.equal(rule.problem(given), undefined);
  const context = { folder, weights: undefined, ledger: "", budgetMs: 1, downloads };
  return rule.decide!(context, given);
}

const data = (id: string): RecordedRepository => ({ from: "dataset", id, weights: false });
const model = (id: string, facts: Partial<RecordedRepository> = {}): RecordedRepository => ({
  ...{ from: "model", id, weights: true, createdAt: "2024-01-01T00:00:00.000Z", parameters: 7e9 },
  files: [{ bytes: 15e9, kind: "weights", changedAt: "2024-05-30T23:59:59.000Z" }],
  ...facts,
});

function answers(method: string, given: Record<string, string[] | string | number>) {
  return (downloads: RecordedRepository[], declared = {}) =>
    finding(method, given, { downloads, declared }).answer;
}

test("strictly the given data is decided by what entered, and an agent's own admission still counts", () => {
  const answer = answers("provenance-data", { allowed: ["Lab/Set"] });
  assert.equal(answer([]), "pass");
  assert.equal(answer([data("lab/set")]), "pass");
  assert.equal(answer([model("lab/tokenizer", { weights: false })]), "pass");
  assert.equal(answer([data("lab/set"), data("lab/other")], { data: ["Lab/Set"] }), "fail");
  assert.equal(answer([model("lab/teacher")], { data: ["Lab/Set"] }), "fail");
  assert.equal(answer([], { data: ["books"] }), "fail");
  assert.equal(finding("provenance-data", { allowed: ["a"] }, { declared: {} }).answer, "undecided");
});

test("the scored data was not trained on where no row of it could enter, unless the agent says otherwise", () => {
  const answer = answers("not-trained-on", { names: ["mmlu"] });
  assert.equal(answer([]), "pass");
  assert.equal(answer([data("cais/mmlu")]), "pass", "its other splits are served");
  assert.equal(answer([data("lab/set")], { data: ["my-mmlu"] }), "fail");
  assert.equal(finding("not-trained-on", { names: ["mmlu"] }, {}).answer, "undecided");
});

test("an approved base is decided by the models of which weights entered, whatever the agent declares", () => {
  const answer = answers("provenance-base", { families: ["gpt2", "pythia"] });
  assert.equal(answer([model("openai-community/gpt2")], { base: "secret" }), "pass");
  assert.equal(answer([model("lab/unknown"), model("lab/other")], { base: "pythia" }), "fail");
  assert.equal(answer([model("lab/unknown"), model("lab/pythia-1b")], { base: "pythia" }), "undecided");
  assert.equal(answer([model("lab/unknown", { weights: false })]), "undecided");
  assert.equal(answer([], { base: "gpt2" }), "pass");
});

test("a family is whole words and numbers of the name of the repository, without the owner", () => {
  const answer = answers("provenance-base", {
    families: ["BERT", "OPT", "T5", "Llama 2", "GPT-2", "Mistral"],
  });
  for (const id of [
    "google/flan-t5-xl",
    "a/Llama-2-7b-hf",
    "gpt2",
    "a/gpt2-xl",
    "a/Mistral-7B",
    "facebook/opt-1.3b",
  ])
    assert.equal(answer([model(id)]), "pass", id);
  for (const id of ["robertson/phi-4", "mistralai/Anything", "a/Llama-3-8b", "a/gpt-neo-1.3B"])
    assert.equal(answer([model(id)]), "fail", id);
  for (const id of ["a/phi-4-optimized", "a/roberta", "a/any-prompt5", "a/gpt-2.7b"])
    assert.equal(answer([model(id)]), "undecided", id);
});

test("a large package, code archive or text leaves a pass open by its name, and no failure", () => {
  const torch: RecordedRepository = { from: "package", id: "torch", weights: false, large: true };
  const given = {
    "provenance-data": { allowed: ["lab/set"] },
    "provenance-base": { families: ["pythia"] },
    "experts-permitted": { parametersMax: 8e9, publishedBefore: "2024-05-31" },
  };
  for (const [method, rule] of Object.entries(given)) {
    const { answer, evidence } = finding(method, rule, { downloads: [torch], declared: { base: "pythia" } });
    assert.equal(answer, "undecided", method);
    assert.match(evidence, /package torch/);
    const other = model("lab/other", { parameters: 9e9 });
    assert.equal(answers(method, rule)([torch, other]), "fail", method);
  }
  assert.equal(answers("provenance-data", { allowed: ["Torch"] })([torch]), "pass", "allowed by name");
});

test("experts are permitted by the size and date on record", () => {
  const given = { parametersMax: 8e9, publishedBefore: "2024-05-31" };
  const answer = answers("experts-permitted", given);
  assert.equal(answer([]), "pass");
  assert.equal(answer([model("a/x"), model("a/y", { parameters: 8e9 })]), "pass");
  assert.equal(answer([model("a/x"), model("a/y", { parameters: 8e9 + 1 })]), "fail");
  assert.equal(answer([model("a/x", { createdAt: "2024-05-31T00:00:00.000Z" })]), "fail");
  for (const fact of ["createdAt", "files", "parameters"] as const) {
    const unknown = model("a/x");
    delete unknown[fact];
    assert.equal(answer([unknown]), "undecided", fact);
  }
  assert.equal(finding("experts-permitted", given, {}).answer, "undecided");
  assert.match(ruleMethods["experts-permitted"]!.problem({ parametersMax: 1 })!, /takes \{ parametersMax/);
});

test("the files of an expert are dated by what they may hold, and must fit its size", () => {
  const answer = answers("experts-permitted", { parametersMax: 8e9, publishedBefore: "2024-05-31" });
  const [old, late] = ["2024-05-30T23:59:59.000Z", "2024-05-31T00:00:00.000Z"];
  const file = (kind: ModelFile["kind"], bytes: number, changedAt?: string): ModelFile => ({
    ...{ kind, bytes },
    ...(changedAt && { changedAt }),
  });
  const of = (...files: ModelFile[]) => answer([model("a/x", { files })]);
  assert.equal(of(file("weights", 15e9, old), file("text", 5e6, late)), "pass", "a late README");
  assert.equal(of(file("weights", 15e9, old), file("weights", 4e3, late)), "fail", "late weights");
  assert.equal(of(file("weights", 15e9, old), file("other", 2e6, late)), "undecided", "a late paper.pdf");
  assert.equal(of(file("weights", 15e9, old), file("weights", 15e9)), "undecided", "no date of one");
  const texts = [file("text", 6e6, late), file("text", 6e6, old)];
  assert.equal(
    of(file("weights", 15e9, old), ...texts),
    "undecided",
    "late texts that may hold weights together",
  );
  assert.equal(of(file("weights", 28e9, old), file("weights", 28e9, old)), "pass", "two formats in F32");
  const small = model("a/x", { parameters: 1000, files: [file("weights", 1e11, old)] });
  assert.equal(answer([small]), "undecided", "more bytes than parameters");
});
