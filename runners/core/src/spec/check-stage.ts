// Checks one stage by itself: what it runs, its axes and its outputs. Its relations to other stages are checked
// elsewhere.

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
  /** Whether the value at a path had the wrong shape, which was reported before. */
  unclear: (...path: string[]) => boolean;
};

export function checkStage(name: string, stage: StageSpec, context: StageContext): Diagnostic[] {
  return [
    ...checkWhatRuns(name, stage, context),
    ...(stage.each ?? []).flatMap((axis, index) => checkEach(name, stage, { axis, index, ...context })),
    ...(stage.keyed ?? []).flatMap((axis, index) => checkKeyed(name, stage, { axis, index, ...context })),
    ...checkOutputs(name, stage, context),
  ];
}

function checkWhatRuns(name: string, stage: StageSpec, { source, unclear }: StageContext): Diagnostic[] {
  const place = source.place(["stages", name], "key");
  const problems: Diagnostic[] = [];
  if (name === environmentStage) {
    const message = `"${name}" is the name of the stages that build environments`;
    problems.push({ code: "reserved-name", message, place, help: "choose another name" });
  }
  const ways = (["script", "python", "command"] as const).filter((way) => stage[way] !== undefined);
  const untold = ["script", "python", "command"].some((way) => unclear("stages", name, way));
  if (ways.length !== 1 && !(ways.length === 0 && untold)) {
    const message =
      ways.length === 0 ? `"${name}" does not say what to run` : `"${name}" has ${ways.join(" and ")}`;
    const help = "a stage has exactly one of script, python, command";
    problems.push({ code: "what-to-run", message, place, help });
  }
  const lacksEnvironment = stage.python !== undefined && stage.environment === undefined;
  if (lacksEnvironment && !unclear("stages", name, "environment")) {
    const message = `"${name}" runs Python and names no environment`;
    const help = "add environment: with the path of a lock file";
    problems.push({ code: "missing-key", message, place, help });
  }
  if (stage.hub && !stage.each?.includes("source") && !unclear("stages", name, "each")) {
    const message = `"${name}" downloads from a hub and has no axis "source"`;
    const help = "add source to each: gates ask for locks and licences by this axis";
    problems.push({
      code: "missing-axis",
      message,
      place: source.place(["stages", name, "hub"], "key"),
      help,
    });
  }
  // what pays must be code of this repository that opens no file of a stranger
  const isOpen = stage.untrusted || stage.durable || stage.opens !== undefined;
  if (stage.paidAnswers && (isOpen || stage.network !== "full") && !unclear("stages", name, "network")) {
    const message = `"${name}" pays for answers of a model, and ${isOpen ? "is untrusted, durable or opens files of strangers" : "has no network: full"}`;
    const help = "write network: full; files of strangers belong in a stage before it";
    const place = source.place(["stages", name, "paidAnswers"], "key");
    problems.push({ code: "paid-answers", message, place, help });
  }
  return problems;
}

type AxisContext = StageContext & { axis: string; index: number };

function checkEach(name: string, { each = [] }: StageSpec, context: AxisContext): Diagnostic[] {
  const { source, axes, unclear, axis, index } = context;
  const place = source.place(["stages", name, "each", index]);
  if (!axes.has(axis)) {
    if (unclear("axes", axis)) return [];
    const message = `no axis named "${axis}"`;
    return [{ code: "unknown-axis", message, place, help: didYouMean(axis, axes.keys()) }];
  }
  const parent = axes.get(axis)!.of;
  const at = parent === undefined ? -1 : each.indexOf(parent);
  if (parent === undefined || (at >= 0 && at < index)) return [];
  const mended = each.filter((one) => one !== parent);
  mended.splice(index, 0, parent);
  const { code, which } =
    at < 0
      ? { code: "missing-axis", which: "which is not in each" }
      : { code: "axis-order", which: "which comes after it" };
  const message = `the values of "${axis}" depend on "${parent}", ${which}`;
  return [{ code, message, place, help: `write each: [${mended.join(", ")}]` }];
}

function checkKeyed(name: string, { each = [] }: StageSpec, context: AxisContext): Diagnostic[] {
  const { source, unclear, axis, index } = context;
  if (each.includes(axis) || unclear("stages", name, "each")) return [];
  const message = `keyed on "${axis}", which is not in each`;
  const place = source.place(["stages", name, "keyed", index]);
  return [{ code: "missing-axis", message, place, help: didYouMean(axis, each) }];
}

function checkOutputs(name: string, stage: StageSpec, { source, unclear }: StageContext): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const outputs = Object.keys(stage.gives ?? {});
  for (const [index, output] of (stage.releases ?? []).entries()) {
    const place = source.place(["stages", name, "releases", index]);
    if (outputs.includes(output) && isDeclaredPrivate(stage.gives![output])) {
      const message = `"${output}" is declared private and released`;
      problems.push({ code: "private-released", message, place, help: "remove one of the two" });
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
    // two names that differ only in case are one file on some disks
    const file = givenOutput(output, gives).file.toLowerCase();
    const twin = files.get(file);
    files.set(file, output);
    if (twin === undefined) continue;
    const message = `outputs "${twin}" and "${output}" have the same file name`;
    problems.push({ code: "duplicate", message, place, help: "give one of them another: { file: NAME }" });
  }
  return problems;
}
