// Which stages reach each other, so that every circle is told at once and not one a run. Tarjan's
// algorithm with a stack of its own: a pipeline may be deeper than the program's stack.
import type { DirectedGraph } from "graphology";

/** Groups of nodes that all reach each other; a node that is in no circle is a group of one. */
export function stronglyConnectedComponents(graph: DirectedGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const components: string[][] = [];
  const enter = (node: string) => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    open.push(node);
    isOpen.add(node);
    return { node, left: graph.outNeighbors(node) };
  };
  const lower = (node: string, to: number) => lowest.set(node, Math.min(lowest.get(node)!, to));

  for (const root of graph.nodes()) {
    if (order.has(root)) continue;
    const trail = [enter(root)];
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const next = top.left.pop();
      if (next !== undefined) {
        if (!order.has(next)) trail.push(enter(next));
        else if (isOpen.has(next)) lower(top.node, order.get(next)!);
        continue;
      }
      trail.pop();
      const parent = trail.at(-1);
      if (parent) lower(parent.node, lowest.get(top.node)!);
      if (lowest.get(top.node) !== order.get(top.node)) continue;
      const component = open.splice(open.lastIndexOf(top.node));
      for (const node of component) isOpen.delete(node);
      components.push(component);
    }
  }
  return components;
}
