// Random pipelines for tests of whole runs: their shape, their edits, and a model. The model states the expected
// results and executions of a run, by rules plain enough to check by reading.
import { hash } from "node:crypto";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import fc from "fast-check";

type Stage = {
  /** Part of the key and of the output. */
  text: string;
  /** Part of the key only: a change makes the stage run again with the same output. */
  salt: number;
  fails: boolean;
  each: ("a" | "b")[];
  /** Sees none of its axes: instances with equal inputs are one action. */
  blind: boolean;
  /** Earlier stages: needed where their axes allow, otherwise collected. */
  reads: number[];
};

export type Pipeline = { a: number; b: number; stages: Stage[] };

const stage = fc.record({
  text: fc.constantFrom("p", "q", "r"),
  salt: fc.nat({ max: 2 }),
  fails: fc.nat({ max: 9 }).map((one) => one === 0),
  each: fc.subarray(["a", "b"] as ("a" | "b")[]),
  blind: fc.nat({ max: 3 }).map((one) => one === 0),
  reads: fc.array(fc.nat(), { maxLength: 3 }),
});

export const pipelines: fc.Arbitrary<Pipeline> = fc.record({
  a: fc.integer({ min: 1, max: 3 }),
  b: fc.integer({ min: 1, max: 2 }),
  stages: fc.array(stage, { minLength: 1, maxLength: 7 }),
});

export type Edit = { at: number } & (
  | { kind: "text"; text: string }
  | { kind: "salt"; salt: number }
  | { kind: "fails" }
  | { kind: "axis"; a: number; b: number }
);

const at = fc.nat();
export const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), at, text: fc.constantFrom("p", "q", "r") }),
  fc.record({ kind: fc.constant("salt" as const), at, salt: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant("fails" as const), at }),
  fc.record({
    kind: fc.constant("axis" as const),
    at,
    a: fc.integer({ min: 1, max: 3 }),
    b: fc.integer({ min: 1, max: 2 }),
  }),
);

export function edited(pipeline: Pipeline, edit: Edit): Pipeline {
  if (edit.kind === "axis") return { ...pipeline, a: edit.a, b: edit.b };
  const stages = pipeline.stages.map((one, index) => {
    if (index !== edit.at % pipeline.stages.length) return one;
    if (edit.kind === "fails") return { ...one, fails: !one.fails };
    return edit.kind === "text" ? { ...one, text: edit.text } : { ...one, salt: edit.salt };
  });
  return { ...pipeline, stages };
}

export function pipelineText({ a, b, stages }: Pipeline): string {
  const values = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const entries = stages.map((one, index) => {
    const before = one.reads.filter(() => index > 0).map((read) => read % index);
    const reads = [...new Set(before)];
    const needs = reads.filter((read) => stages[read]!.each.every((axis) => one.each.includes(axis)));
    const collect = reads.filter((read) => !needs.includes(read));
    const spec = {
      each: one.each,
      ...(one.blind && { keyed: [] }),
      needs: Object.fromEntries(needs.map((read) => [`n${read}`, `s${read}.out`])),
      collect: collect.map((read) => `s${read}.out`),
      command: ["fake", one.text, String(one.salt), one.fails ? "fails" : "works"],
      gives: { out: { file: `out-of-s${index}` } }, // all published outputs go into one folder
    };
    return [`s${index}`, spec];
  });
  const axes = { a: values(a), b: values(b) };
  return JSON.stringify({ formatVersion: 1, name: "random", axes, stages: Object.fromEntries(entries) });
}

/** The output of a stage, from its parameters and inputs. The executor and the model share only this function. */
export function given(told: { text: string; axes: object; read: Record<string, string> }): string {
  const { text, axes, read } = told;
  return `${text} ${hash("sha256", JSON.stringify([axes, Object.entries(read).sort()]))}`;
}

export type Expected = {
  /** By plan index; undefined where the instance or one of its needs fails. */
  contents: (string | undefined)[];
  /** By plan index: instances with equal text share an action. */
  keys: (string | undefined)[];
  fails: boolean[];
  /** By plan index: the first need that is missing, which a manifest names as the cause. */
  missing: (string | undefined)[];
};

export function expect(plan: Plan): Expected {
  const expected: Expected = { contents: [], keys: [], fails: [], missing: [] };
  for (const instance of plan.instances) {
    const { contents, keys, fails, missing } = expected;
    const read = readOf(instance, plan, expected);
    const command = (instance.action.run as { command: string[] }).command;
    const axes = Object.fromEntries(instance.stage.keyed.map((axis) => [axis, instance.axes[axis]]));
    contents.push(undefined);
    keys.push(undefined);
    fails.push(false);
    const first = instance.inputs.find(({ from }) => contents[from] === undefined);
    missing.push(first && plan.instances[first.from]!.id);
    if (read === undefined) continue;
    const { index } = instance;
    const causes = instance.members.map(({ from }) => missing[from]);
    const parts = [command, axes, Object.entries(read).sort(), causes, instance.members.length > 0];
    keys[index] = JSON.stringify(parts);
    if (command[3] === "fails") fails[index] = true;
    else contents[index] = given({ text: command[1]!, axes, read });
  }
  return expected;
}

/** The inputs of an instance, by name; undefined where a need is missing. */
function readOf(
  instance: Instance,
  plan: Plan,
  { contents, fails }: Expected,
): Record<string, string> | undefined {
  const read: Record<string, string> = {};
  for (const { name, from } of instance.inputs) {
    if (contents[from] === undefined) return undefined;
    read[name] = contents[from];
  }
  for (const { from } of instance.members)
    read[plan.instances[from]!.id] = contents[from] ?? (fails[from] ? "failed" : "skipped");
  return read;
}
