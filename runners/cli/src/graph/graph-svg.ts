// A graph drawn: Graphviz itself, compiled to WebAssembly, so that nobody has to install it.
import { instance } from "@viz-js/viz";
import type { Graph } from "./graph.ts";
import { graphDot } from "./graph-dot.ts";

export async function graphSvg(graph: Graph): Promise<string> {
  const graphviz = await instance();
  return graphviz.renderString(graphDot(graph), { format: "svg" });
}
