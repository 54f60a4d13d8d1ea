// The circles of a graph that should have none, so that every one is told at once and not one a run.
// Pure: no disk, no clock. graphology-components would find them too, but its recursion ends the program at a
// circle of a few thousand nodes.
import type { DirectedGraph } from "graphology";
import { hasCycle } from "graphology-dag";
import { bfsFromNode } from "graphology-traversal";

/**
 * For each group of nodes that all reach each other the shortest circle through its first node, which begins and
 * ends it. Groups and nodes are in the graph's order.
 */
export function circles(graph: DirectedGraph): string[][] {
  if (!hasCycle(graph)) return [];
  const found: string[][] = [];
  const rest = graph.copy();
  for (const node of graph.nodes()) {
    if (!rest.hasNode(node)) continue;
    const group = groupOf(rest, node);
    if (group.size > 1) found.push(shortestCircle(rest, node, group));
    // what is left is the smaller for it: a long chain takes one look at each node
    for (const other of group.keys()) rest.dropNode(other);
  }
  return found;
}

/** Nodes that `node` reaches and that reach it, with their steps to it. */
function groupOf(graph: DirectedGraph, node: string): Map<string, number> {
  const alone = new Map([[node, 0]]);
  if (graph.inDegree(node) === 0 || graph.outDegree(node) === 0) return alone;
  const back = distances(graph, node, "inbound");
  const there = distances(graph, node, "outbound");
  return new Map([...back].filter(([other]) => there.has(other)));
}

/** Steps between `node` and each node that it reaches (outbound) or that reaches it (inbound). */
function distances(graph: DirectedGraph, node: string, mode: "inbound" | "outbound"): Map<string, number> {
  const steps = new Map<string, number>();
  bfsFromNode(graph, node, (other, _, depth) => void steps.set(other, depth), { mode });
  return steps;
}

function shortestCircle(graph: DirectedGraph, node: string, group: Map<string, number>): string[] {
  const left = (other: string) => group.get(other) ?? Number.POSITIVE_INFINITY;
  const circle = [node];
  do {
    const next = graph.outNeighbors(circle.at(-1)!).reduce((a, b) => (left(b) < left(a) ? b : a));
    circle.push(next);
  } while (circle.at(-1) !== node);
  return circle;
}
