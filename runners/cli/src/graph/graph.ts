// A plan as a graph: the declared stages or the expanded instances with their states, and an edge for each flow of
// artifacts. The formats decide only the look.
// Pure: no disk, no clock.
import { environmentStage, type Plan, type PlannedStage } from "@mlrb/core/plan/plan";
import { countStates, type InstanceState, stateWords, stateWordsOf } from "../show/instance-state.ts";

type GraphNode = {
  /** A stage's name, or an instance's id. */
  id: string;
  /** The stage's name. */
  name: string;
  /** The lines below the name. */
  lines: string[];
  /** Of several instances the state that most needs attention. */
  state: InstanceState;
  durable: boolean;
  untrusted: boolean;
  /** The link of a node on a page. */
  href?: string;
};

export type GraphEdge = {
  from: string;
  to: string;
  /** The outputs on this edge, in the order of the stage's declaration. */
  outputs: string[];
  private: boolean;
  /** collected: by a stage that runs whatever the outcomes of its members; after: nothing is read, but it starts later. */
  kind: "needed" | "collected" | "after";
};

export type Graph = { title: string; nodes: GraphNode[]; edges: GraphEdge[] };

/** The order in which states need attention. */
const attention: InstanceState[] = ["failed", "running", "stale", "neverRun", "uncertain", "upToDate"];

/** `stateOf`: by plan index, for each drawn instance. Environments are left out: every Python stage has one. */
export function graphOf(
  plan: Plan,
  {
    stateOf,
    instances,
    all,
  }: { stateOf: ReadonlyMap<number, InstanceState>; instances: boolean; all: boolean },
): Graph {
  const { pipeline, profile, selection } = plan;
  const title = `${pipeline} (${profile}${selection === "" ? "" : `, ${selection}`})`;
  return { title, ...(instances ? instanceGraph(plan, stateOf) : stageGraph(plan, { stateOf, all })) };
}

/** The edge from a stage that must succeed before another starts. */
const after = { output: "starts after", kind: "after" as const };

/** What a user of a service needs of it. */
const address = { output: "address", kind: "needed" } as const;

type Drawn = Pick<Graph, "nodes" | "edges">;

type Shown = { stateOf: ReadonlyMap<number, InstanceState>; all: boolean };

/** Stages of a group are one node, unless `all`. */
function stageGraph(plan: Plan, { stateOf, all }: Shown): Drawn {
  const byStage = Map.groupBy(
    plan.instances.filter(({ index }) => stateOf.has(index)),
    ({ stage }) => stage.name,
  );
  const stages = plan.stages.filter(({ name }) => byStage.has(name) && name !== environmentStage);
  const shownAs = ({ name, spec }: PlannedStage) => (all ? name : (spec.group ?? name));
  const nodes = [...Map.groupBy(stages, shownAs)].map(([name, of]): GraphNode => {
    const drawn = of.flatMap((stage) => byStage.get(stage.name)!);
    const counts = countStates(drawn.map(({ index }) => stateOf.get(index)!));
    const [stage] = of as [PlannedStage];
    const over = of.length > 1 ? `of ${of.length} stages` : `over ${stage.each.join(", ")}`;
    return {
      id: name,
      name,
      lines: [
        ...(stage.each.length === 0 ? [] : [`${drawn.length} ${over}`]),
        ...marks(stage),
        stateWordsOf(counts).join(", "),
      ],
      state: attention.find((state) => counts[state] > 0)!,
      durable: stage.durable,
      untrusted: stage.untrusted,
    };
  });
  const drawn = new Set(stages.map(({ name }) => name));
  const nodeOf = new Map(stages.map((stage) => [stage.name, shownAs(stage)]));
  const gives = givenBy(plan);
  const links = stages.flatMap((stage) => [
    ...[
      ...stage.needs.map((one) => [one, "needed"] as const),
      ...stage.collect.map((one) => [one, "collected"] as const),
    ].map(([{ stage: from, output }, kind]) => ({ from, to: stage.name, output, kind })),
    ...(stage.spec.startAfter ?? []).map((from) => ({ from, to: stage.name, ...after })),
    ...(stage.spec.service?.for ?? [])
      .filter((to) => drawn.has(to))
      .map((to) => ({ from: stage.name, to, ...address })),
  ]);
  const shown = links.flatMap(({ from, to, ...link }) => {
    const ends = { from: nodeOf.get(from)!, to: nodeOf.get(to)! };
    const isSeen = drawn.has(from) && (ends.from !== ends.to || from === to);
    return isSeen ? [{ ...ends, ...link, private: gives(from, link.output) }] : [];
  });
  return { nodes, edges: joined(shown) };
}

function instanceGraph(plan: Plan, stateOf: ReadonlyMap<number, InstanceState>): Drawn {
  const drawn = plan.instances.filter(
    ({ index, stage }) => stateOf.has(index) && stage.name !== environmentStage,
  );
  const gives = givenBy(plan);
  const nodes = drawn.map(({ index, id, stage, axes }): GraphNode => {
    const state = stateOf.get(index)!;
    const { name, durable, untrusted } = stage;
    const point = Object.entries(axes).map(([axis, value]) => `${axis}=${value}`);
    return { id, name, lines: [...point, ...marks(stage), stateWords[state]], state, durable, untrusted };
  });
  const links = drawn.flatMap(({ id, inputs, members, uses, checks = [] }) => [
    ...inputs.map(({ from, output }) => ({ from, to: id, output, kind: "needed" as const })),
    ...members.map(({ from, output }) => ({ from, to: id, output, kind: "collected" as const })),
    ...checks.map((from) => ({ from, to: id, ...after })),
    ...(uses ? [{ from: uses.from, to: id, ...address }] : []),
  ]);
  const shown = links.filter(({ from }) => stateOf.has(from));
  const named = shown.map(({ from, ...link }) => {
    const { id, stage } = plan.instances[from]!;
    return { ...link, from: id, private: gives(stage.name, link.output) };
  });
  return { nodes, edges: joined(named) };
}

function marks({ durable, untrusted }: PlannedStage): string[] {
  const words = [...(durable ? ["durable"] : []), ...(untrusted ? ["untrusted"] : [])];
  return words.length === 0 ? [] : [words.join(", ")];
}

/** Whether an output is private, by stage and output. */
function givenBy(plan: Plan): (stage: string, output: string) => boolean {
  const known = new Set(
    plan.stages.flatMap(({ name, gives }) =>
      gives.filter((one) => one.private).map((one) => `${name} ${one.name}`),
    ),
  );
  return (stage, output) => known.has(`${stage} ${output}`);
}

type Link = Omit<GraphEdge, "outputs"> & { output: string };

/** Merges links with the same ends and the same look into one edge. */
function joined(links: Link[]): GraphEdge[] {
  const edges = new Map<string, GraphEdge>();
  for (const { output, ...link } of links) {
    const key = JSON.stringify([link.from, link.to, link.private, link.kind]);
    const edge = edges.get(key) ?? { ...link, outputs: [] };
    edges.set(key, edge);
    if (!edge.outputs.includes(output)) edge.outputs.push(output);
  }
  return [...edges.values()];
}
