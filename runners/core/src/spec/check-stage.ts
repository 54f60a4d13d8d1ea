// What is wrong with one stage by itself: what it runs, its axes and its outputs. What it has to do with
// other stages is looked at elsewhere.

import type { StageSpec } from "@mlrb/formats/declared/pipeline";
import { environmentStage } from "../plan/plan.ts";
import type { Axis } from "../plan/resolve-axes.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean, suggest } from "../yaml/suggest.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import { givenOutput, isDeclaredPrivate } from "./given-output.ts";

export type StageContext = {
  source: YamlSource;
  axes: Map<string, Axis>;
  /** Whether what stands at a path had the wrong shape, which was told already. */
  unclear: (...path: string[]) => boolean;
};

export function checkStage(name: string, stage: StageSpec, context: StageContext): Diagnostic[] {
  return [...checkSettings(name, stage, context), ...checkOutputs(name, stage, context)];
}

function checkSettings(name: string, stage: StageSpec, context: StageContext): Diagnostic[] {
  const { source, axes, unclear } = context;
  const at = (...path: (string | number)[]) => source.place(["stages", name, ...path]);
  const key = source.place(["stages", name], "key");
  const problems: Diagnostic[] = [];
  if (name === environmentStage) {
    problems.push({
      code: "reserved-name",
      message: `"${name}" is the name of the stages that build environments`,
      place: key,
      help: "choose another name",
    });
  }
  const ways = (["script", "python", "command"] as const).filter((way) => stage[way] !== undefined);
  const untold = ["script", "python", "command"].some((way) => unclear("stages", name, way));
  if (ways.length !== 1 && !(ways.length === 0 && untold)) {
    const message =
      ways.length === 0 ? `"${name}" does not say what to run` : `"${name}" says ${ways.join(" and ")}`;
    problems.push({
      code: "what-to-run",
      message,
      place: key,
      help: "a stage has exactly one of script, python, command",
    });
  }
  if (
    stage.python !== undefined &&
    stage.environment === undefined &&
    !unclear("stages", name, "environment")
  ) {
    const message = `"${name}" runs Python and names no environment`;
    problems.push({
      code: "missing-key",
      message,
      place: key,
      help: "add environment: with the path of a lock file",
    });
  }
  for (const list of ["each", "keyed"] as const) {
    for (const [index, axis] of (stage[list] ?? []).entries()) {
      if (list === "each" && !axes.has(axis) && !unclear("axes", axis)) {
        problems.push({
          code: "unknown-axis",
          message: `no axis named "${axis}"`,
          place: at(list, index),
          help: didYouMean(axis, axes.keys()),
        });
      }
      if (list === "keyed" && !(stage.each ?? []).includes(axis) && !unclear("stages", name, "each")) {
        problems.push({
          code: "missing-axis",
          message: `keyed on "${axis}", which is not in each`,
          place: at(list, index),
          help: didYouMean(axis, stage.each ?? []),
        });
      }
      const parent = axes.get(axis)?.of;
      if (list === "each" && parent !== undefined && !stage.each!.includes(parent)) {
        const each = [...stage.each!];
        each.splice(index, 0, parent);
        problems.push({
          code: "missing-axis",
          message: `the values of "${axis}" depend on "${parent}", which is not in each`,
          place: at(list, index),
          help: `write each: [${each.join(", ")}]`,
        });
      } else if (list === "each" && parent !== undefined && stage.each!.indexOf(parent) > index) {
        const each = stage.each!.filter((one) => one !== parent);
        each.splice(index, 0, parent);
        problems.push({
          code: "axis-order",
          message: `the values of "${axis}" depend on "${parent}", which stands after it`,
          place: at(list, index),
          help: `write each: [${each.join(", ")}]`,
        });
      }
    }
  }
  return problems;
}

function checkOutputs(name: string, stage: StageSpec, { source, unclear }: StageContext): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const outputs = Object.keys(stage.gives ?? {});
  for (const [index, output] of (stage.releases ?? []).entries()) {
    const place = source.place(["stages", name, "releases", index]);
    if (outputs.includes(output) && isDeclaredPrivate(stage.gives![output])) {
      const message = `"${output}" is declared private and released`;
      problems.push({ code: "private-released", message, place, help: "leave out one of the two" });
    }
    if (outputs.includes(output) || unclear("stages", name, "gives")) continue;
    const message = `"${name}" gives no "${output}"`;
    problems.push({ code: "unknown-output", message, place, help: didYouMean(output, outputs) });
  }
  const files = new Map<string, string>();
  for (const [output, gives] of Object.entries(stage.gives ?? {})) {
    const place = source.place(["stages", name, "gives", output]);
    const kinds =
      typeof gives === "string" ? [gives] : [gives.file && "file", gives.dir && "dir"].filter(Boolean);
    if (kinds.length !== 1 || (kinds[0] !== "file" && kinds[0] !== "dir")) {
      const help =
        typeof gives === "string" && suggest(gives, ["file", "dir"]) !== undefined
          ? didYouMean(gives, ["file", "dir"])
          : "write file, dir or { dir: true, private: true }";
      const message = `output "${output}" must be either file or dir`;
      problems.push({ code: "wrong-value", message, place, help });
      continue;
    }
    // two on one name would be one on some disks, where small and capital letters are the same
    const file = givenOutput(output, gives).file.toLowerCase();
    const twin = files.get(file);
    files.set(file, output);
    if (twin === undefined) continue;
    const message = `outputs "${twin}" and "${output}" have the same file name`;
    problems.push({ code: "duplicate", message, place, help: "give one of them another: { file: NAME }" });
  }
  return problems;
}
