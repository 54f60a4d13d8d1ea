// Families of honest and dishonest changes of small models, compared by the step and judged by the rules.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { type Identity, identity } from "@mlrb/formats/judged/identity";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { judgeIdentity } from "./testing/judge-identity.ts";

const repository = resolve(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "identity-step-"));
after(() => rmSync(root, { recursive: true }));

const given = { models: ["base", "one", "two"] };
const rules = [
  { method: "base-approved", with: given },
  { method: "compressed-base", with: { model: "base" } },
  { method: "merge-explained", with: given },
];
before(() => {
  execFileSync(
    testPython(),
    warmArguments([
      join(repository, "scorers/library/tests/compare_families.py"),
      root,
      JSON.stringify(rules),
    ]),
    { cwd: repository, env: { ...process.env, PYTHONPATH: pythonPath(repository), OMP_NUM_THREADS: "1" } },
  );
});

const judge = (method: string, family: string, arguments_: Record<string, string | string[]>) =>
  judgeIdentity(method, join(root, `${family}.json`), arguments_);

const expect = (
  method: string,
  with_: Record<string, string | string[]>,
  answers: Record<string, string>,
) => {
  const wrong = Object.entries(answers).flatMap(([family, answer]) => {
    const decided = judge(method, family, with_);
    return decided.answer === answer
      ? []
      : [`${family}: ${decided.answer}, not ${answer}: ${decided.evidence}`];
  });
  assert.deepEqual(wrong, []);
};

test("versions of the base pass as made from it, and decoys, other models and half-mixtures do not", () => {
  expect(
    "base-approved",
    { models: ["base"] },
    {
      ...Object.fromEntries(
        [
          ...[
            "unchanged",
            "half-precision",
            "trained",
            "trained-vectors",
            "pruned",
            "pruned-90",
            "quantised",
          ],
          ...[
            "low-rank",
            "low-rank-90",
            "fewer-layers",
            "fewer-neurons",
            "fewer-neurons-trained",
            "fewer-hidden",
            "rotated",
          ],
          ...["through-both-halves", "first-layers", "fewer-heads", "norms-folded", "untied"],
          ...["rotated-and-cut", "permuted", "padded", "one", "linear", "dare", "ties", "slerp"],
        ].map((family) => [family, "pass"]),
      ),
      fresh: "fail",
      "fresh-gpt2": "fail",
      "fresh-low-rank": "fail",
      decoys: "fail",
      "half-fresh": "undecided",
    },
  );
});

test("weights may be removed from the base; training shows, also in vectors and with sampled places kept", () => {
  expect(
    "compressed-base",
    { model: "base" },
    {
      ...Object.fromEntries(
        [
          ...["unchanged", "half-precision", "through-both-halves", "pruned", "pruned-90", "fewer-layers"],
          ...["first-layers", "fewer-neurons", "fewer-heads", "fewer-hidden", "permuted", "padded", "untied"],
        ].map((family) => [family, "pass"]),
      ),
      rotated: "undecided",
      "rotated-and-cut": "undecided",
      ...Object.fromEntries(
        ["low-rank", "low-rank-90", "low-rank-90-half-precision", "pruned-low-rank"].map((family) => [
          family,
          "undecided",
        ]),
      ),
      ...Object.fromEntries(
        [
          ...["trained", "trained-with-sampled-places-kept", "trained-vectors", "quantised"],
          ...["fewer-neurons-trained", "trained-biases", "fresh", "fresh-gpt2", "decoys", "half-fresh"],
          "fresh-low-rank",
        ].map((family) => [family, "fail"]),
      ),
    },
  );
});

test("linear, SLERP, TIES and DARE merges are mixtures; a thousandth of a second model is none, nor training", () => {
  expect("merge-explained", given, {
    linear: "pass",
    arithmetic: "pass",
    dare: "pass",
    ties: "pass",
    slerp: "pass",
    "layers-of-both": "pass",
    one: "fail",
    "barely-merged": "fail",
    "merged-and-trained": "fail",
    "merged-and-kept-sampled": "fail",
    trained: "fail",
    "fresh-gpt2": "undecided",
  });
});

test("an unchanged model is found in any precision, and one changed vector makes it different", () => {
  expect("changed", given, {
    unchanged: "fail",
    "half-precision": "fail",
    "through-both-halves": "fail",
    permuted: "fail",
    one: "fail",
    "first-layers": "pass",
    "fewer-neurons": "pass",
    "fewer-heads": "pass",
    "trained-vectors": "pass",
    "barely-merged": "pass",
    pruned: "pass",
  });
});

test("copies of a known model are found; models of other origin show no sign of it", () => {
  const copies = ["", "-trained", "-rescaled", "-transposed", "-permuted", "-permuted-half", "-padded"];
  const hidden = [
    "-permuted-among-small",
    "-permuted-and-padded",
    "-rotated",
    "-half-fresh",
    "-half-noise",
    "-overwritten",
  ];
  const honest = ["40", "41", "42", "43", "decayed", "gpt2"];
  const answers = (names: string[], answer: string) => names.map((name) => [name, answer]);
  expect(
    "from-scratch",
    {},
    {
      ...Object.fromEntries(
        answers(
          [...copies, ...hidden].map((name) => `copy${name}`),
          "fail",
        ),
      ),
      ...Object.fromEntries(
        answers(
          honest.map((name) => `honest-${name}`),
          "pass",
        ),
      ),
    },
  );
  const { evidence } = judge("from-scratch", "honest-gpt2", {});
  assert.match(evidence, /^no sign of the 1 known model \(Famous\) in \d+ matrices$/);
});

const tensor = (name: string, shape: number[], cosine?: number): Identity["tensors"][number] => ({
  ...{ name, shape, finite: true, constant: false },
  relations:
    cosine === undefined
      ? []
      : [{ model: "base", tensor: name, by: "place", values: "other", cosine, difference: 0.1, repeated: 0 }],
});
const decide = (
  method: string,
  some: Partial<Identity>,
  arguments_: Record<string, string | string[]> = {},
) => {
  const identity: Identity = { formatVersion: 1, given: [], tensors: [], mixtures: [], known: [], ...some };
  return judgeIdentity(method, identity, arguments_);
};

test("a base with a new vocabulary larger than all else is undecided; a foreign body of a small base fails", () => {
  const layers = Array.from({ length: 30 }, (_, at) => tensor(`layers.${at}`, [576, 1536], 0.99));
  const tensors = [...layers, tensor("embedding", [200_000, 576]), tensor("head", [200_000, 576])];
  assert.equal(decide("base-approved", { tensors }, { models: ["base"] }).answer, "undecided");
  const foreign = Array.from({ length: 30 }, (_, at) => tensor(`own.${at}`, [2000, 1536]));
  assert.equal(
    decide("base-approved", { tensors: [...layers, ...foreign] }, { models: ["base"] }).answer,
    "fail",
  );
});

test("where nothing shows which hidden units are left, unrelated tensors are open; with a trained one it fails", () => {
  const given = [{ model: "base", values: 10 ** 6, unmapped: true }];
  const cut = [tensor("embedding", [500, 48]), tensor("layers.0", [48, 96], 0.1)];
  const decided = (tensors: Identity["tensors"], unmapped: boolean) =>
    [
      decide("base-approved", { given: [{ ...given[0]!, unmapped }], tensors }, { models: ["base"] }),
      decide("compressed-base", { given: [{ ...given[0]!, unmapped }], tensors }, { model: "base" }),
    ].map(({ answer }) => answer);
  assert.deepEqual(decided(cut, true), ["undecided", "undecided"]);
  assert.deepEqual(decided(cut, false), ["fail", "fail"]);
  const trained = [...cut, tensor("layers.1", [96, 96], 0.99)];
  assert.deepEqual(decided(trained, true), ["undecided", "fail"]);
});

test("rows of the base that are chosen again and again are no version of it, and no plain part", () => {
  const chosen = (values: "equal" | "other", repeated: number) => {
    const [relation] = tensor("layers.0", [96, 96], 0.9).relations;
    const tensors = [{ ...tensor("layers.0", [96, 96]), relations: [{ ...relation!, values, repeated }] }];
    return [
      decide("base-approved", { tensors }, { models: ["base"] }).answer,
      decide("compressed-base", { tensors }, { model: "base" }).answer,
    ];
  };
  assert.deepEqual(chosen("equal", 0), ["pass", "pass"]);
  assert.deepEqual(chosen("equal", 0.01), ["pass", "undecided"]);
  assert.deepEqual(chosen("equal", 0.4), ["undecided", "undecided"]);
  assert.deepEqual(chosen("other", 0.4), ["undecided", "fail"]);
});

test("one weak match with two relatives is undecided, like one with one known model", () => {
  const matches = [{ tensor: "a", known: "b", by: "places" as const, likeness: 0.21 }];
  const known = ["X", "X-Instruct"].map((model) => ({ model, looked: 20, matches }));
  const tensors = [tensor("a", [64, 64])];
  assert.equal(decide("from-scratch", { tensors, known }).answer, "undecided");
  assert.equal(decide("from-scratch", { tensors, known: [known[0]!] }).answer, "undecided");
});

test("where the stage could compare nothing, each rule is undecided with its reason", () => {
  const detail = "comparing its tensors would take more than 90 minutes of one core";
  for (const [method, arguments_] of Object.entries({
    "base-approved": given,
    changed: given,
    "from-scratch": {},
  }))
    assert.deepEqual(decide(method, { detail }, arguments_), { answer: "undecided", evidence: detail });
});

test("nothing is compared of a submission that is not admitted, or for a task without such a rule", () => {
  const step = (admission: object, rules: object[]) => {
    const [given, file] = [join(root, "admission-given"), join(root, "identity-found")];
    writeFileSync(given, JSON.stringify({ formatVersion: 1, admitted: true, reasons: [], ...admission }));
    const flags = [
      ...["--input", `submission=${root}`, "--input", `admission=${given}`, "--output", `identity=${file}`],
      ...["--param", "data=smoke", "--param", `rules=${JSON.stringify(rules)}`],
    ];
    execFileSync(testPython(), warmArguments(["pipelines/steps/identity.py", ...flags]), {
      cwd: repository,
      env: { ...process.env, PYTHONPATH: pythonPath(repository) },
    });
    return mustFollow(identity, readJson(file), file);
  };
  const nothing = { formatVersion: 1, given: [], tensors: [], mixtures: [], known: [] };
  const scratch = { method: "from-scratch" };
  assert.deepEqual(step({ admitted: false }, [scratch]), {
    ...nothing,
    detail: "the submission is not admitted",
  });
  for (const others of [[{ method: "parameters-max", with: { max: 1 } }], [{ ...scratch, on: ["official"] }]])
    assert.deepEqual(step({}, others), { ...nothing, detail: "no rule of the task compares weights" });
});
