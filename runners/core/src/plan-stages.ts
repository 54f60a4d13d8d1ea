// Turns declared stages into a graph and checks it: edges come from artifacts, never from the order
// of the YAML, so moving a stage in the file cannot change what runs.
// Pure: no disk, no clock.
import { DirectedGraph } from "graphology";
import { topologicalSort } from "graphology-dag";
import type { Diagnostic } from "./diagnostic.ts";
import type { GivesSpec, PipelineSpec, StageSpec } from "./pipeline-spec.ts";
import { type ArtifactSource, environmentStage, type PlannedOutput, type PlannedStage } from "./plan.ts";
import type { Axis } from "./resolve-axes.ts";
import { didYouMean } from "./suggest.ts";
import type { Path, YamlSource } from "./yaml-source.ts";

type Reference = ArtifactSource & { path: Path };

/** The stages in an order in which each comes after what it needs; or all that is wrong with them. */
export function planStages(
  spec: PipelineSpec,
  source: YamlSource,
  axes: Map<string, Axis>,
): { stages: PlannedStage[] } | { problems: Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const stages = new Map<string, PlannedStage>();
  const references = new Map<string, { needs: Reference[]; collect: Reference[] }>();

  for (const [name, stage] of Object.entries(spec.stages)) {
    problems.push(...checkStage(name, stage, source, axes));
    const needs = referencesOf(stage.needs, ["stages", name, "needs"]);
    const collect = referencesOf(stage.collect, ["stages", name, "collect"]);
    references.set(name, { needs, collect });
    stages.set(name, {
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
    });
  }

  const graph = new DirectedGraph();
  for (const name of stages.keys()) graph.addNode(name);
  for (const [name, { needs, collect }] of references) {
    for (const reference of [...needs, ...collect]) {
      const found = checkReference(name, reference, {
        stages,
        source,
        collected: collect.includes(reference),
      });
      if (found) problems.push(found);
      else if (reference.stage !== name) graph.mergeDirectedEdge(reference.stage, name);
    }
    problems.push(...checkNames(name, needs, source));
  }
  const cycle = findCycle(graph);
  if (cycle) {
    const [first, before] = [cycle[0]!, cycle.at(-2)!];
    const back = references.get(first)!;
    const reference = [...back.needs, ...back.collect].find(({ stage }) => stage === before)!;
    const message = `stages need each other in a circle: ${cycle.join(" → ")}`;
    problems.push({ code: "cycle", message, place: source.place(reference.path) });
  }
  if (problems.length > 0) return { problems };

  const ordered = topologicalSort(graph).map((name) => stages.get(name)!);
  spreadPrivacy(ordered, stages);
  for (const { name, needs } of ordered) {
    if (!stages.get(name)!.untrusted) continue;
    for (const { path, ...need } of [...references.get(name)!.needs, ...references.get(name)!.collect]) {
      if (!outputOf(stages, need)?.private) continue;
      problems.push({
        code: "private-for-untrusted",
        message: `"${name}" is untrusted and needs ${need.stage}.${need.output}, which is private`,
        place: source.place(path),
        help: `an untrusted stage may need public artifacts only; ${needs.length > 1 ? "leave it out, or " : ""}let ${need.stage} release what may be seen`,
      });
    }
  }
  const needed = new Set(graph.nodes().filter((name) => graph.outDegree(name) > 0));
  for (const stage of ordered) stage.publishes = stage.each.length === 0 && !needed.has(stage.name);
  return problems.length > 0 ? { problems } : { stages: ordered };
}

function checkStage(
  name: string,
  stage: StageSpec,
  source: YamlSource,
  axes: Map<string, Axis>,
): Diagnostic[] {
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
  if (ways.length !== 1) {
    const message =
      ways.length === 0 ? `"${name}" does not say what to run` : `"${name}" says ${ways.join(" and ")}`;
    problems.push({
      code: "what-to-run",
      message,
      place: key,
      help: "a stage has exactly one of script, python, command",
    });
  }
  if (stage.python !== undefined && stage.environment === undefined) {
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
      if (list === "each" && !axes.has(axis)) {
        problems.push({
          code: "unknown-axis",
          message: `no axis named "${axis}"`,
          place: at(list, index),
          help: didYouMean(axis, axes.keys()),
        });
      }
      if (list === "keyed" && !(stage.each ?? []).includes(axis)) {
        problems.push({
          code: "missing-axis",
          message: `keyed on "${axis}", which is not in each`,
          place: at(list, index),
          help: didYouMean(axis, stage.each ?? []),
        });
      }
      const parent = axes.get(axis)?.of;
      if (list === "each" && parent !== undefined && !stage.each!.includes(parent)) {
        problems.push({
          code: "missing-axis",
          message: `the values of "${axis}" depend on "${parent}", which is not in each`,
          place: at(list, index),
          help: `write each: [${[parent, ...stage.each!].join(", ")}]`,
        });
      }
    }
  }
  const outputs = Object.keys(stage.gives ?? {});
  for (const [index, output] of (stage.releases ?? []).entries()) {
    if (outputs.includes(output)) continue;
    problems.push({
      code: "unknown-output",
      message: `"${name}" gives no "${output}"`,
      place: at("releases", index),
      help: didYouMean(output, outputs),
    });
  }
  for (const [output, gives] of Object.entries(stage.gives ?? {})) {
    const kinds =
      typeof gives === "string" ? [gives] : [gives.file && "file", gives.dir && "dir"].filter(Boolean);
    if (kinds.length === 1 && (kinds[0] === "file" || kinds[0] === "dir")) continue;
    const help =
      typeof gives === "string"
        ? didYouMean(gives, ["file", "dir"])
        : "write file, dir or { dir: true, private: true }";
    problems.push({
      code: "wrong-value",
      message: `output "${output}" must be either file or dir`,
      place: at("gives", output),
      help,
    });
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
  context: { stages: Map<string, PlannedStage>; source: YamlSource; collected: boolean },
): Diagnostic | undefined {
  const { stages, source, collected } = context;
  const place = source.place(path);
  const from = stages.get(stage);
  if (output === "") {
    const help = from
      ? `write stage.output: ${from.gives.map((one) => `${stage}.${one.name}`).join(", ")}`
      : "write stage.output";
    return { code: "bad-reference", message: `"${stage}" names no output`, place, help };
  }
  if (!from)
    return {
      code: "unknown-stage",
      message: `no stage named "${stage}"`,
      place,
      help: didYouMean(stage, stages.keys()),
    };
  if (!from.gives.some((one) => one.name === output)) {
    return {
      code: "unknown-output",
      message: `"${stage}" gives no "${output}"`,
      place,
      help: didYouMean(
        output,
        from.gives.map((one) => one.name),
      ),
    };
  }
  if (stage === name) return { code: "cycle", message: `"${name}" needs itself`, place };
  const lacking = from.each.filter((axis) => !stages.get(name)!.each.includes(axis));
  if (collected || lacking.length === 0) return undefined;
  return {
    code: "missing-axis",
    message: `"${stage}" fans out over ${lacking.map((axis) => `"${axis}"`).join(", ")}, which "${name}" lacks`,
    place,
    help: `add it to each, or gather with collect: [${stage}.${output}]`,
  };
}

function checkNames(name: string, needs: Reference[], source: YamlSource): Diagnostic[] {
  const seen = new Map<string, Reference>();
  return needs.flatMap((need) => {
    const twin = seen.get(need.name);
    seen.set(need.name, need);
    if (!twin) return [];
    return [
      {
        code: "duplicate",
        message: `"${name}" needs both ${twin.stage}.${twin.output} and ${need.stage}.${need.output} under the name "${need.name}"`,
        place: source.place(need.path),
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

/** One circle as names, its first repeated at the end; undefined when there is none. */
function findCycle(graph: DirectedGraph): string[] | undefined {
  const state = new Map<string, "open" | "done">();
  const trail: string[] = [];
  const visit = (node: string): string[] | undefined => {
    if (state.get(node) === "done") return undefined;
    if (state.get(node) === "open") return [...trail.slice(trail.indexOf(node)), node];
    state.set(node, "open");
    trail.push(node);
    for (const next of graph.outNeighbors(node)) {
      const found = visit(next);
      if (found) return found;
    }
    trail.pop();
    state.set(node, "done");
    return undefined;
  };
  for (const node of graph.nodes()) {
    const found = visit(node);
    if (found) return found;
  }
  return undefined;
}
