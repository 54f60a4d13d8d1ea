// Turns declared stages into a graph and checks it. Edges come from artifacts, never from the order of the YAML,
// so moving a stage in the file cannot change what runs. Pure: no disk, no clock.

import type { PipelineSpec, StageSpec } from "@mlrb/formats/declared/pipeline";
import { DirectedGraph } from "graphology";
import { topologicalSort } from "graphology-dag";
import { checkPublished } from "../spec/check-published.ts";
import { checkStage, type StageContext } from "../spec/check-stage.ts";
import { givenOutput } from "../spec/given-output.ts";
import { checkOpens } from "../spec/opens.ts";
import { checkPrivacy, spreadPrivacy } from "../spec/privacy.ts";
import {
  checkNames,
  checkReference,
  type How,
  type Reference,
  referencesOf,
  stagesBefore,
  type Wires,
} from "../spec/references.ts";
import { checkRoles } from "../spec/roles.ts";
import { checkServices, serviceUsers } from "../spec/services.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import { cycles as findCycles } from "./cycles.ts";
import type { PlannedStage } from "./plan.ts";

/** The stages in an order in which each comes after what it needs (unless there is a cycle), and all problems. */
export function planStages(
  spec: PipelineSpec,
  context: StageContext,
): { stages: PlannedStage[]; problems: Diagnostic[] } {
  const { source } = context;
  const problems: Diagnostic[] = [];
  const stages = new Map<string, PlannedStage>();
  const wires = new Map<string, Wires>();

  for (const [name, stage] of Object.entries(spec.stages)) {
    problems.push(...checkStage(name, stage, context));
    const needs = referencesOf(stage.needs, ["stages", name, "needs"]);
    const collect = referencesOf(stage.collect, ["stages", name, "collect"]);
    const startAfter = stagesBefore(stage.startAfter, ["stages", name, "startAfter"]);
    wires.set(name, { needs, collect, startAfter });
    stages.set(name, plannedStage(name, stage, { needs, collect, source }));
  }

  const graph = new DirectedGraph();
  for (const name of stages.keys()) graph.addNode(name);
  for (const [name, { needs, collect, startAfter }] of wires) {
    for (const [how, references] of Object.entries({ needs, collects: collect, "starts after": startAfter }))
      for (const reference of references) {
        const found = checkReference(name, reference, { ...context, stages, how: how as How });
        if (found) problems.push(found);
        if (stages.has(reference.stage) && reference.stage !== name)
          graph.mergeDirectedEdge(reference.stage, name);
      }
    problems.push(...checkNames(name, { needs, collect }, source));
    problems.push(...checkRoles(name, collect, { ...context, stages }));
  }
  const users = serviceUsers(spec.stages);
  problems.push(...checkServices(spec.stages, context));
  for (const [service, references] of users)
    for (const { stage } of references)
      if (stages.has(stage) && stage !== service) graph.mergeDirectedEdge(service, stage);
  const cycles = findCycles(graph);
  for (const cycle of cycles) problems.push(cycleProblem(cycle, { wires, users, source }));
  if (cycles.length > 0) return { stages: [...stages.values()], problems };

  const ordered = topologicalSort(graph).map((name) => stages.get(name)!);
  spreadPrivacy(ordered, stages);
  for (const stage of ordered) {
    const context = { stages, wires: wires.get(stage.name)!, source };
    problems.push(...checkPrivacy(stage, context), ...checkOpens(stage, context));
  }
  for (const stage of ordered) stage.publishes = stage.each.length === 0 && graph.outDegree(stage.name) === 0;
  problems.push(...checkPublished(ordered, source));
  return { stages: ordered, problems };
}

function plannedStage(
  name: string,
  stage: StageSpec,
  { needs, collect, source }: Pick<Wires, "needs" | "collect"> & { source: YamlSource },
): PlannedStage {
  const { file, line } = source.place(["stages", name], "key");
  return {
    name,
    ...(stage.role !== undefined && { role: stage.role }),
    each: stage.each ?? [],
    keyed: stage.keyed ?? stage.each ?? [],
    needs: needs.map(({ path: _, ...reference }) => reference),
    collect: collect.map(({ path: _, ...reference }) => reference),
    gives: Object.entries(stage.gives ?? {}).map(([output, gives]) => givenOutput(output, gives)),
    durable: stage.durable ?? false,
    untrusted: stage.untrusted ?? false,
    ...(stage.opens !== undefined && { opens: stage.opens }),
    publishes: false,
    place: { file, line },
    spec: stage,
  };
}

/** `cycle` begins and ends with the same stage; the place is where that stage needs the one before it. */
function cycleProblem(
  cycle: string[],
  at: { wires: Map<string, Wires>; users: Map<string, Reference[]>; source: YamlSource },
): Diagnostic {
  const { wires, users, source } = at;
  const [first, before] = [cycle[0]!, cycle.at(-2)!];
  const { needs, collect, startAfter } = wires.get(first)!;
  const needed = [...needs, ...collect, ...startAfter].find(({ stage }) => stage === before);
  const reference = needed ?? users.get(before)!.find(({ stage }) => stage === first)!;
  return {
    code: "cycle",
    message: `stages need each other in a cycle: ${cycle.join(" → ")}`,
    place: source.place(reference.path),
    help: "an arrow points from a stage to one that needs it; remove one need",
  };
}
