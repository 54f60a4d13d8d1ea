// A graph as SVG, by Graphviz compiled to WebAssembly, so that it need not be installed.
import { instance } from "@viz-js/viz";
import type { Graph } from "./graph.ts";
import { graphDot } from "./graph-dot.ts";

export async function graphSvg(graph: Graph): Promise<string> {
  const graphviz = await instance();
  return graphviz.renderString(graphDot(graph), { format: "svg" });
}
