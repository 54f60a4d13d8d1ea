// How often the rules on given models are wrong: honest submissions and cheats, made from small bases of many
// architectures by scorers/library/tests/given_rates.py, compared by the step and judged by the rules. The suite
// draws a sample by a printed seed. By hand (ADR 43): MLRB_TEST_IDENTITY_BASES=160 for more bases, or =all for
// every recipe with every architecture, and MLRB_TEST_IDENTITY_METHODS=compressed-base for one method of them
// (base-approved takes hours).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { exactInterval } from "@mlrb/core/statistics/exact-interval";
import type { RuleAnswer } from "@mlrb/formats/judged/verdict";
import { readJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import type { RuleArguments } from "@mlrb/kit/rules/rule-method";
import { testPython } from "../../scorers/testing/submissions.ts";
import { testSeed } from "../../tests/support/test-seed.ts";
import { judgeIdentity } from "./testing/judge-identity.ts";

const bases = process.env.MLRB_TEST_IDENTITY_BASES ?? "5";
const repository = resolve(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "identity-rates-"));
after(() => rmSync(root, { recursive: true }));

type Case = {
  file: string;
  method: "base-approved" | "compressed-base";
  kind: "honest" | "cheat";
  recipe: string;
  family: string;
  detail: string;
  knownEvasion: boolean;
};
type Decided = Case & { answer: RuleAnswer; evidence: string };

const given: Record<Case["method"], RuleArguments> = {
  "base-approved": { models: ["base"] },
  "compressed-base": { model: "base" },
};
const both = ["base-approved", "compressed-base"] as const;
const chosen = bases === "all" ? process.env.MLRB_TEST_IDENTITY_METHODS?.split(",") : undefined;
const methods = both.filter((method) => chosen?.includes(method) ?? true);
assert.ok(methods.length > 0, `MLRB_TEST_IDENTITY_METHODS names none of ${both.join(", ")}`);
let decided: Decided[];

before(
  () => {
    const rules = methods.map((method) => ({ method, with: given[method] }));
    const program = join(repository, "scorers/library/tests/given_rates.py");
    const python = [pythonPath(repository), join(repository, "scorers/library/tests")].join(delimiter);
    const run = [program, root, bases, `${testSeed}`, JSON.stringify(rules)];
    const { status, stderr } = spawnSync(testPython(), run, {
      cwd: repository,
      env: { ...process.env, PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: "1", OMP_NUM_THREADS: "1" },
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    assert.equal(status, 0, `seed ${testSeed}: ${stderr}`);
    decided = (readJson(join(root, "cases.json")) as Case[]).map((one) => ({
      ...one,
      ...judgeIdentity(one.method, join(root, one.file), given[one.method]),
    }));
    console.log([`${bases} bases, seed ${testSeed}`, ...methods.flatMap(table)].join("\n"));
  },
  { timeout: 3 * 3_600_000 },
);

function table(method: Case["method"]): string[] {
  const honest = decided.filter((one) => one.method === method && one.kind === "honest");
  const cheats = decided.filter((one) => one.method === method && one.kind === "cheat");
  const recipes = [...new Set(cheats.map(({ recipe }) => recipe))].sort();
  return [
    rate(`${method}: false alarms`, honest, "fail"),
    rate(`${method}: cheats stopped`, cheats, "fail"),
    ...recipes.map((name) =>
      rate(
        `  ${name}`,
        cheats.filter(({ recipe }) => recipe === name),
        "fail",
      ),
    ),
    ...decided
      .filter((one) => one.method === method && one.answer === "undecided")
      .map((one) => `  undecided: ${sentence(one)}`),
  ];
}

function sentence({ kind, recipe, family, detail, answer, evidence }: Decided): string {
  return `${kind}, ${recipe}, ${family} (${detail}): ${answer}, ${evidence}`;
}

function checkCount({ length }: Case[]): void {
  if (bases === "all") assert.ok(length > 500, `${length}`);
  else assert.equal(length, Number(bases));
}

/** Answers that are `counted`, of those that are decided, with the exact 95 % interval. */
function rate(title: string, cases: Decided[], counted: RuleAnswer): string {
  const sure = cases.filter(({ answer }) => answer !== "undecided");
  const events = sure.filter(({ answer }) => answer === counted).length;
  const interval = sure.length === 0 ? [0, 1] : exactInterval(events, sure.length);
  const [low, high] = interval.map((one) => `${(100 * one!).toFixed(1)} %`);
  return `${title}: ${events} of ${sure.length} (${low} to ${high}), ${cases.length - sure.length} undecided`;
}

for (const method of methods) {
  test(`no honest submission fails ${method}`, () => {
    const honest = decided.filter((one) => one.method === method && one.kind === "honest");
    checkCount(honest);
    const wrong = honest.filter(({ answer }) => answer === "fail").map(sentence);
    assert.deepEqual(wrong, [], `MLRB_TEST_SEED=${testSeed}`);
  });

  test(`no cheat passes ${method}, but for evasions that docs/rules.md states`, () => {
    const cheats = decided.filter((one) => one.method === method && one.kind === "cheat");
    checkCount(cheats);
    const wrong = cheats.filter((one) => one.answer === "pass" && !one.knownEvasion).map(sentence);
    assert.deepEqual(wrong, [], `MLRB_TEST_SEED=${testSeed}`);
  });
}
