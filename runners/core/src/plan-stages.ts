// Turns declared stages into a graph and checks it: edges come from artifacts, never from the order
// of the YAML, so moving a stage in the file cannot change what runs.
// Pure: no disk, no clock.
import { DirectedGraph } from "graphology";
import { topologicalSort } from "graphology-dag";
import type { Diagnostic } from "./diagnostic.ts";
import type { GivesSpec, PipelineSpec, StageSpec } from "./pipeline-spec.ts";
import { type ArtifactSource, environmentStage, type PlannedOutput, type PlannedStage } from "./plan.ts";
import type { Axis } from "./resolve-axes.ts";
import { stronglyConnectedComponents } from "./strongly-connected.ts";
import { didYouMean, suggest } from "./suggest.ts";
import type { Path, YamlSource } from "./yaml-source.ts";

type Reference = ArtifactSource & { path: Path };

type Wires = { needs: Reference[]; collect: Reference[] };

export type StageContext = {
  source: YamlSource;
  axes: Map<string, Axis>;
  /** Whether what stands at a path had the wrong shape, which was told already. */
  unclear: (...path: string[]) => boolean;
};

/** The stages in an order in which each comes after what it needs (while there is no circle), and all that is wrong with them. */
export function planStages(
  spec: PipelineSpec,
  context: StageContext,
): { stages: PlannedStage[]; problems: Diagnostic[] } {
  const { source } = context;
  const problems: Diagnostic[] = [];
  const stages = new Map<string, PlannedStage>();
  const wires = new Map<string, Wires>();

  for (const [name, stage] of Object.entries(spec.stages)) {
    problems.push(...checkStage(name, stage, context), ...checkOutputs(name, stage, context));
    const needs = referencesOf(stage.needs, ["stages", name, "needs"]);
    const collect = referencesOf(stage.collect, ["stages", name, "collect"]);
    wires.set(name, { needs, collect });
    stages.set(name, plannedStage(name, stage, { needs, collect }));
  }

  const graph = new DirectedGraph();
  for (const name of stages.keys()) graph.addNode(name);
  for (const [name, { needs, collect }] of wires) {
    for (const reference of [...needs, ...collect]) {
      const collected = collect.includes(reference);
      const found = checkReference(name, reference, { ...context, stages, collected });
      if (found) problems.push(found);
      if (stages.has(reference.stage) && reference.stage !== name)
        graph.mergeDirectedEdge(reference.stage, name);
    }
    problems.push(...checkNames(name, { needs, collect }, source));
  }
  const cycles = stronglyConnectedComponents(graph).filter((component) => component.length > 1);
  for (const component of cycles) problems.push(cycleProblem(component, { graph, wires, source }));
  if (cycles.length > 0) return { stages: [...stages.values()], problems };

  const ordered = topologicalSort(graph).map((name) => stages.get(name)!);
  spreadPrivacy(ordered, stages);
  for (const stage of ordered)
    problems.push(...checkPrivacy(stage, { stages, wires: wires.get(stage.name)!, source }));
  for (const stage of ordered) stage.publishes = stage.each.length === 0 && graph.outDegree(stage.name) === 0;
  return { stages: ordered, problems };
}

function plannedStage(name: string, stage: StageSpec, { needs, collect }: Wires): PlannedStage {
  return {
    name,
    each: stage.each ?? [],
    keyed: stage.keyed ?? stage.each ?? [],
    needs: needs.map(({ path: _, ...reference }) => reference),
    collect: collect.map(({ path: _, ...reference }) => reference),
    gives: Object.entries(stage.gives ?? {}).map(([output, gives]) => givenOutput(output, gives)),
    durable: stage.durable ?? false,
    untrusted: stage.untrusted ?? false,
    publishes: false,
    spec: stage,
  };
}

function checkPrivacy(
  { name, untrusted }: PlannedStage,
  context: { stages: Map<string, PlannedStage>; wires: Wires; source: YamlSource },
): Diagnostic[] {
  if (!untrusted) return [];
  const { stages, wires, source } = context;
  return [...wires.needs, ...wires.collect].flatMap(({ path, ...need }) => {
    if (!outputOf(stages, need)?.private) return [];
    const declared = isDeclaredPrivate(stages.get(need.stage)!.spec.gives?.[need.output]);
    return [
      {
        code: "private-for-untrusted",
        message: `"${name}" is untrusted and needs ${need.stage}.${need.output}, which is private`,
        place: source.place(path),
        help: declared
          ? "an untrusted stage may need public artifacts only"
          : `an untrusted stage may need public artifacts only; if nothing private is in it: ${need.stage} releases: [${need.output}]`,
      },
    ];
  });
}

function isDeclaredPrivate(gives: GivesSpec | undefined): boolean {
  return typeof gives === "object" && gives.private === true;
}

function checkStage(name: string, stage: StageSpec, context: StageContext): Diagnostic[] {
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

function referencesOf(needs: string[] | Record<string, string> | undefined, path: Path): Reference[] {
  const entries: [string | number, string | undefined, string][] = Array.isArray(needs)
    ? needs.map((text, index) => [index, undefined, text])
    : Object.entries(needs ?? {}).map(([name, text]) => [name, name, text]);
  return entries.map(([step, alias, text]) => {
    const dot = text.indexOf(".");
    const [stage, output] = dot < 0 ? [text, ""] : [text.slice(0, dot), text.slice(dot + 1)];
    return { name: alias ?? output, stage, output, path: [...path, step] };
  });
}

function checkReference(
  name: string,
  { stage, output, path }: Reference,
  context: StageContext & { stages: Map<string, PlannedStage>; collected: boolean },
): Diagnostic | undefined {
  const { stages, source, collected, unclear } = context;
  const place = source.place(path);
  const from = stages.get(stage);
  if (!from) {
    if (unclear("stages", stage)) return undefined;
    const help = didYouMean(stage, stages.keys());
    const shown = source.placeOf(path, stage);
    return { code: "unknown-stage", message: `no stage named "${stage}"`, place: shown, help };
  }
  if (output === "") {
    const given = from.gives.map((one) => `${stage}.${one.name}`).join(", ");
    const help = given === "" ? `"${stage}" gives nothing yet` : `write stage.output: ${given}`;
    return { code: "bad-reference", message: `"${stage}" names no output`, place, help };
  }
  if (stage === name) {
    const verb = collected ? "collects" : "needs";
    return { code: "cycle", message: `"${name}" ${verb} itself`, place, help: "leave it out" };
  }
  if (!from.gives.some((one) => one.name === output)) {
    if (unclear("stages", stage, "gives")) return undefined;
    const given = from.gives.map((one) => one.name);
    const dotted = source.placeOf(path, `.${output}`);
    const shown = { ...dotted, column: dotted.column + 1, length: Math.max(1, dotted.length - 1) };
    return {
      code: "unknown-output",
      message: `"${stage}" gives no "${output}"`,
      place: dotted.length === output.length + 1 ? shown : place,
      help: didYouMean(output, given),
    };
  }
  if (collected || unclear("stages", stage, "each") || unclear("stages", name, "each")) return undefined;
  const each = stages.get(name)!.each;
  const lacking = from.each.filter((axis) => !each.includes(axis) && context.axes.has(axis));
  if (lacking.length === 0) return undefined;
  return {
    code: "missing-axis",
    message: `"${stage}" fans out over ${lacking.map((axis) => `"${axis}"`).join(", ")}, which "${name}" lacks`,
    place,
    help: `write each: [${[...each, ...lacking].join(", ")}], or gather with collect: [${stage}.${output}]`,
  };
}

function checkNames(name: string, { needs, collect }: Wires, source: YamlSource): Diagnostic[] {
  const seen = new Map<string, Reference>();
  return needs.flatMap((need) => {
    const place = source.place(need.path);
    const twin = seen.get(need.name);
    seen.set(need.name, need);
    if (need.name === "manifest" && collect.length > 0) {
      const message = `"${name}" collects, so that its input "manifest" is taken`;
      const help = `rename: needs: { ${need.stage}: ${need.stage}.${need.output} }`;
      return [{ code: "reserved-name", message, place, help }];
    }
    if (!twin) return [];
    return [
      {
        code: "duplicate",
        message: `"${name}" needs both ${twin.stage}.${twin.output} and ${need.stage}.${need.output} under the name "${need.name}"`,
        place,
        help: `rename: needs: { ${twin.stage}: ${twin.stage}.${twin.output}, ${need.stage}: ${need.stage}.${need.output} }`,
      },
    ];
  });
}

function givenOutput(name: string, gives: GivesSpec): PlannedOutput {
  if (typeof gives === "string") return { name, file: name, kind: gives, private: false };
  const file = typeof gives.file === "string" ? gives.file : name;
  return { name, file, kind: gives.file ? "file" : "dir", private: gives.private ?? false };
}

function outputOf(
  stages: Map<string, PlannedStage>,
  { stage, output }: ArtifactSource,
): PlannedOutput | undefined {
  return stages.get(stage)?.gives.find((one) => one.name === output);
}

/** What is made from something private is private, unless it is released. */
function spreadPrivacy(ordered: PlannedStage[], stages: Map<string, PlannedStage>): void {
  for (const stage of ordered) {
    const tainted = [...stage.needs, ...stage.collect].some((need) => outputOf(stages, need)?.private);
    if (!tainted) continue;
    for (const output of stage.gives) {
      if (!(stage.spec.releases ?? []).includes(output.name)) output.private = true;
    }
  }
}

/** One circle through stages that all reach each other: the shortest through the first of them. */
function cycleProblem(
  component: string[],
  context: { graph: DirectedGraph; wires: Map<string, Wires>; source: YamlSource },
): Diagnostic {
  const { graph, wires, source } = context;
  const inside = new Set(component);
  const first = [...wires.keys()].find((name) => inside.has(name))!;
  const before = new Map<string, string>();
  const queue = [first];
  for (let at = 0; at < queue.length && !before.has(first); at++) {
    for (const next of graph.outNeighbors(queue[at]!)) {
      if (!inside.has(next) || before.has(next)) continue;
      before.set(next, queue[at]!);
      queue.push(next);
    }
  }
  const circle = [first];
  for (let name = before.get(first)!; name !== first; name = before.get(name)!) circle.unshift(name);
  circle.unshift(first);
  const back = wires.get(first)!;
  const reference = [...back.needs, ...back.collect].find(({ stage }) => stage === circle.at(-2))!;
  return {
    code: "cycle",
    message: `stages need each other in a circle: ${circle.join(" → ")}`,
    place: source.place(reference.path),
    help: "an arrow leads from what gives to what needs it; take one away",
  };
}
