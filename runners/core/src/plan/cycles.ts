// Finds all cycles of a graph that should have none, so that all are reported at once. Pure: no disk, no clock.
// graphology-components would find them too, but its recursion overflows the stack at a cycle of a few thousand
// nodes.
import type { DirectedGraph } from "graphology";
import { hasCycle } from "graphology-dag";
import { bfsFromNode } from "graphology-traversal";

/**
 * For each group of nodes that all reach each other, the shortest cycle through its first node, which begins and
 * ends the list. Groups and nodes are in the graph's order.
 */
export function cycles(graph: DirectedGraph): string[][] {
  if (!hasCycle(graph)) return [];
  const found: string[][] = [];
  const rest = graph.copy();
  for (const node of graph.nodes()) {
    if (!rest.hasNode(node)) continue;
    const group = groupOf(rest, node);
    if (group.size > 1) found.push(shortestCycle(rest, node, group));
    // the rest gets smaller, so a long chain costs one visit to each node
    for (const other of group.keys()) rest.dropNode(other);
  }
  return found;
}

/** Nodes that `node` reaches and that reach it, with their number of steps to it. */
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

function shortestCycle(graph: DirectedGraph, node: string, group: Map<string, number>): string[] {
  const left = (other: string) => group.get(other) ?? Number.POSITIVE_INFINITY;
  const cycle = [node];
  do {
    const next = graph.outNeighbors(cycle.at(-1)!).reduce((a, b) => (left(b) < left(a) ? b : a));
    cycle.push(next);
  } while (cycle.at(-1) !== node);
  return cycle;
}
