import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { renderDiagnostic } from "../yaml/diagnostic.ts";
import { combinations } from "./count-instances.ts";
import { loadPlan } from "./load-plan.ts";

function load(text: string) {
  const sources = memorySources({
    ...repository,
    "pipelines/test.yaml": `formatVersion: 1\nname: test\n${text}`,
  });
  return loadPlan({ file: "pipelines/test.yaml" }, sources, ["local"]);
}

test("forty axes of two values are refused at once, with their number and their names", () => {
  const names = Array.from({ length: 40 }, (_, index) => `a${index}`);
  const axes = names.map((name) => `${name}: [0, 1]`).join(", ");
  const result = load(`axes: { ${axes} }\nstages:\n  wide: { each: [${names}], script: steps/a.ts }\n`);
  assert("problems" in result);
  assert.match(
    renderDiagnostic(result.problems[0]!),
    /^pipelines\/test\.yaml:5:17 too-many-instances: the plan would have 1 099 511 627 776 stage instances, .* of them of "wide" over a0 \(2\) × a1 \(2\) .* × 32 more axes; at most 1 000 000 can be planned\n/,
  );
});

test("two written lists of a million values are refused by the size of their file, before they are read", () => {
  const list = Array.from({ length: 2 ** 20 }, (_, index) => index).join(", ");
  const result = load(
    `axes: { a: [${list}], b: [${list}] }\nstages:\n  wide: { each: [a, b], script: steps/a.ts }\n`,
  );
  assert("problems" in result);
  assert.deepEqual(result.problems.map(renderDiagnostic), [
    "too-long: pipelines/test.yaml has 15.9 MiB; at most 512.0 KiB of YAML are read\n  help: shorten generated lists, or split the pipeline",
  ]);
});

test("a second problem in the file does not cause an expansion", () => {
  const names = Array.from({ length: 40 }, (_, index) => `a${index}`);
  const axes = names.map((name) => `${name}: [0, 1]`).join(", ");
  const result = load(
    `axes: { ${axes} }\nstages:\n  wide: { each: [${names}], script: steps/none.ts }\n  odd: { each: [b], script: steps/a.ts }\n`,
  );
  assert("problems" in result);
  assert.deepEqual(result.problems.map(({ code }) => code).sort(), ["too-many-instances", "unknown-axis"]);
});

test("the count equals the number of instances in the plan, for any axes", () => {
  const values = fc.uniqueArray(fc.nat(9), { minLength: 0, maxLength: 4 });
  const axis = fc.record({ values, chosen: fc.boolean() });
  fc.assert(
    fc.property(axis, axis, axis, fc.boolean(), (a, b, c, scored) => {
      const entries = Object.entries({ a, b, c }).filter(([, one]) => one.values.length > 0);
      const each = entries.filter(([, { chosen }]) => chosen).map(([name]) => name);
      if (scored) each.push("task", "scorer");
      const lists = entries.map(([name, one]) => `${name}: [${one.values}], `).join("");
      const result = load(
        `axes: { ${lists}task: [reading, writing], scorer: { of: task, field: scorers.smoke } }\nstages:\n  it: { each: [${each}], script: steps/a.ts }\n`,
      );
      assert("plan" in result, JSON.stringify(result));
      const known = new Map(
        entries.map(([name, one]) => [name, { name, values: one.values }] as const).concat([]),
      );
      const scorers = new Map([
        ["reading", ["accuracy", "fluency"]],
        ["writing", ["fluency"]],
      ]);
      const axes = new Map<
        string,
        Parameters<typeof combinations>[1] extends ReadonlyMap<string, infer A> ? A : never
      >([
        ...known,
        ["task", { name: "task", values: ["reading", "writing"] }],
        ["scorer", { name: "scorer", of: "task", values: ["accuracy", "fluency"], valuesOf: scorers }],
      ]);
      assert.equal(combinations(each, axes), BigInt(result.plan.instances.length));
    }),
    { numRuns: 60 },
  );
});
