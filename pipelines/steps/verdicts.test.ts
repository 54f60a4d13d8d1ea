// Every task's rules distinguish three submissions: an honest one, one that cannot be loaded, and one that breaks
// a rule. A task's fixtures/verdict.json describes the honest submission, and which rule is broken and how. Two
// small matrices replace the models of the task.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { openTrajectory } from "@mlrb/agents/record/trajectory";
import { taskManifest } from "@mlrb/formats/declared/task";
import { admission } from "@mlrb/formats/judged/admission";
import type { Identity } from "@mlrb/formats/judged/identity";
import { verdict } from "@mlrb/formats/judged/verdict";
import { mustFollow } from "@mlrb/formats/read-format";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { readJson } from "@mlrb/kit/json-file";
import { mayDisqualify } from "@mlrb/kit/rules/rule-evidence";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { float32, safetensorsBytes } from "@mlrb/kit/safetensors/testing/safetensors-bytes";
import { parse } from "yaml";

type Model = Record<string, number[]>;
type Spoiled = "other-data" | "overtime" | "high-peak" | "fresh-weights" | "trained-weights";
type Fixture = {
  honest: "fresh" | "trained" | "average" | "shortened";
  breaks: { rule: string; by: Spoiled };
};

const repository = join(import.meta.dirname, "../..");
const tasks = join(repository, "tasks");
const root = mkdtempSync(join(tmpdir(), "mlrb-verdicts-"));
after(() => rmSync(root, { recursive: true }));

const shape = [48, 64];
const values = (name: string) =>
  Array.from(
    { length: shape[0]! * shape[1]! },
    (_, at) => createHash("md5").update(`${name} ${at}`).digest().readInt16LE() / 1e5,
  );
const parts = ["a", "b"];
const model = (name: string): Model => Object.fromEntries(parts.map((part) => [part, values(name + part)]));
const moved = (from: Model, by: string, share: number): Model =>
  Object.fromEntries(
    Object.entries(from).map(([part, own]) => {
      const noise = values(by + part);
      return [part, own.map((value, at) => value + share * noise[at]!)];
    }),
  );
const base = model("base");
const expert = (name: string) => (name === "base" ? base : moved(base, name, 0.3));

function average(models: Model[]): Model {
  const mean = (part: string) =>
    base[part]!.map((_, at) => models.reduce((sum, one) => sum + one[part]![at]!, 0) / models.length);
  return Object.fromEntries(parts.map((part) => [part, mean(part)]));
}

function cosine(a: number[], b: number[]): number {
  const dot = (x: number[], y: number[]) => x.reduce((sum, value, at) => sum + value * y[at]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function write(folder: string, weights: Model): void {
  mkdirSync(folder, { recursive: true });
  const tensors = Object.fromEntries(
    Object.entries(weights).map(([part, own]) => [part, float32(shape, own)]),
  );
  writeFileSync(join(folder, "model.safetensors"), safetensorsBytes(tensors));
  writeFileSync(join(folder, "config.json"), JSON.stringify({ vocab_size: 100 }));
  writeFileSync(join(folder, "tokenizer.json"), "{}");
}

for (const task of readdirSync(tasks)) {
  const folder = join(tasks, task);
  if (!existsSync(join(folder, "task.yaml"))) continue;
  describe(`task ${task}`, () => {
    const manifest = mustFollow(
      taskManifest,
      parse(readFileSync(join(folder, "task.yaml"), "utf8")),
      join(folder, "task.yaml"),
    );
    const rules = rulesOn(manifest.rules, "smoke");
    const { honest, breaks } = readJson(join(folder, "fixtures/verdict.json")) as Fixture;
    const given = [
      ...new Set(
        rules.flatMap(({ with: { models = [], model = [] } = {} }) => [models, model].flat() as string[]),
      ),
    ];
    const allowed = rules.find(({ method }) => method === "provenance-data")?.with?.allowed as string[];

    const weights = (): Model => {
      if (honest === "fresh") return model("own");
      if (honest === "trained") return moved(base, "training", 0.05);
      if (honest === "shortened") return { a: base.b! };
      return average(given.filter((name) => name !== "base").map(expert));
    };

    /** memory.json in place of a measurement: peaks of this share of each rule's limit. */
    const measured = (share: number) => ({
      formatVersion: 1,
      measurements: rules
        .filter(({ method }) => method === "memory-max")
        .map(({ with: recipe = {} }) => {
          const peak = share * (recipe.bytes as number);
          const run = { end: "measured", atLeastBytes: peak, atMostBytes: peak };
          return { newTokens: 0, ...recipe, runs: [run, run, run] };
        }),
    });

    /** identity.json in place of a comparison: of each given model the matrix that is nearest by its cosine. */
    const compared = (own: Model): Identity => {
      const nearest = (values: number[], model: string) =>
        Object.entries(expert(model))
          .map(([tensor, theirs]) => ({ model, tensor, cosine: cosine(values, theirs) }))
          .sort((a, b) => b.cosine - a.cosine)[0]!;
      const tensors = Object.entries(own).map(([name, values]) => ({
        ...{ name, shape, finite: true, constant: false },
        relations: given.map((model) => {
          const found = nearest(values, model);
          const isEqual = found.cosine > 1 - 1e-9;
          return {
            ...{ ...found, by: "place" as const, difference: isEqual ? 0 : 1, repeated: 0 },
            values: isEqual ? ("equal" as const) : ("other" as const),
          };
        }),
      }));
      const mixtures = rules
        .filter(({ method }) => method === "merge-explained")
        .map(({ with: asked = {} }) => {
          const models = asked.models as string[];
          const mean = average(models.filter((name) => name !== "base").map(expert));
          const left = (name: string) => (cosine(own[name]!, mean[name]!) > 1 - 1e-9 ? 0 : 1);
          const fitted = parts.map((name) => ({ name, residual: left(name), outside: left(name) }));
          return {
            ...{ models, weights: models.map(() => 1 / models.length) },
            tensors: fitted.map((one) => ({ ...one, size: 48 * 64, allowed: 0.01 })),
          };
        });
      return {
        ...{ formatVersion: 1, tensors, mixtures },
        given: given.map((model) => ({ model, values: 2 * 48 * 64, unmapped: false })),
        known: [{ model: "Famous", looked: tensors.length, matches: [] }],
      };
    };

    /** Runs validate.ts and verdict.ts on an honest submission after `spoil`. */
    const judged = (spoiled?: Spoiled | "truncated") => {
      const at = mkdtempSync(join(root, "v-"));
      mkdirSync(join(at, "clean"));
      const own =
        spoiled === "fresh-weights"
          ? model("elsewhere")
          : spoiled === "trained-weights"
            ? moved(weights(), "training", 0.05)
            : weights();
      write(join(at, "submission"), own);
      if (spoiled === "truncated") truncateSync(join(at, "submission/model.safetensors"), 5000);
      const data = spoiled === "other-data" ? ["the whole internet"] : allowed.slice(0, 1);
      writeFileSync(join(at, "submission/provenance.json"), JSON.stringify({ data }));
      const trajectory = openTrajectory(join(at, "trajectory"), { now: () => ({ wall: 0, sinceStart: 0 }) });
      trajectory.add(exampleEvent("end"));
      const workingMs = spoiled === "overtime" ? 3_600_000 : 1000;
      const ledger = exampleLedger({ wallMs: workingMs, workingMs, trajectory: trajectory.seal() });
      writeFileSync(join(at, "ledger"), JSON.stringify(ledger));
      trajectory.close();
      writeFileSync(join(at, "identity"), JSON.stringify(compared(own)));
      writeFileSync(join(at, "memory"), JSON.stringify(measured(spoiled === "high-peak" ? 1.5 : 0.5)));
      const step = (name: string, args: string[]) => {
        const ran = spawnSync(process.execPath, [`pipelines/steps/${name}.ts`, ...args], {
          cwd: repository,
          encoding: "utf8",
        });
        assert.equal(ran.status, 0, ran.stderr);
      };
      const inputs = (...names: string[]) =>
        names.flatMap((name) => ["--input", `${name}=${join(at, name)}`]);
      const admissionFile = `admission=${join(at, "admission.json")}`;
      step("validate", [
        ...inputs("submission", "ledger"),
        ...["--output", admissionFile, "--output", `submission=${join(at, "clean")}`],
      ]);
      step("verdict", [
        ...inputs("submission", "trajectory", "ledger", "identity", "memory"),
        ...["--input", admissionFile, "--output", `verdict=${join(at, "verdict.json")}`],
        ...["--param", "data=smoke", "--budget", `time=${manifest.budget.smoke!.time}`],
        ...["--param", `rules=${JSON.stringify(manifest.rules)}`],
      ]);
      return {
        admission: mustFollow(admission, readJson(join(at, "admission.json")), "admission.json"),
        verdict: mustFollow(verdict, readJson(join(at, "verdict.json")), "verdict.json"),
      };
    };

    test("an honest submission keeps every rule", () => {
      const { admission, verdict } = judged();
      assert.deepEqual(admission.reasons, []);
      assert.equal(verdict.kind, "pass", JSON.stringify(verdict.rules));
      assert.deepEqual(
        verdict.rules.filter(({ answer }) => answer === "fail"),
        [],
      );
    });

    test("a submission with truncated weights is rejected, with the file and the missing bytes", () => {
      const { admission, verdict } = judged("truncated");
      assert.equal(verdict.kind, "rejected");
      assert.match(admission.reasons[0]!.detail, /model\.safetensors.*truncated: the tensors need \d+ bytes/);
    });

    const { method } = rules.find(({ name }) => name === breaks.rule)!;
    const ends = mayDisqualify(method)
      ? "breaks it and is disqualified"
      : "is undecided, since its method was not measured";
    test(`a submission with ${breaks.by} against ${breaks.rule} ${ends}, with evidence`, () => {
      const { verdict } = judged(breaks.by);
      const rule = verdict.rules.find((one) => one.rule === breaks.rule)!;
      const expected = mayDisqualify(method) ? ["disqualified", "fail"] : ["undecided", "undecided"];
      assert.deepEqual([verdict.kind, rule.answer, rule.severity], [...expected, "disqualify"]);
      assert.match(rule.evidence, /\d|internet/);
    });
  });
}
