// `pipeline graph`: writes the pipeline as Graphviz, Mermaid or SVG.
import { writeFileSync } from "node:fs";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { readStates } from "../attempts/read-states.ts";
import { type Graph, graphOf } from "../graph/graph.ts";
import { refuse } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { printJson } from "../show/print-json.ts";

export type GraphOptions = CommonOptions & { format?: string; instances: boolean; output?: string };

/** Loaded on demand: Graphviz is larger than the rest of the program. */
const formats: Record<string, (graph: Graph) => Promise<string>> = {
  dot: async (graph) => (await import("../graph/graph-dot.ts")).graphDot(graph),
  mermaid: async (graph) => (await import("../graph/graph-mermaid.ts")).graphMermaid(graph),
  svg: async (graph) => (await import("../graph/graph-svg.ts")).graphSvg(graph),
};

const formatOfExtension: Record<string, string> = { gv: "dot", dot: "dot", mmd: "mermaid", svg: "svg" };

export async function graphCommand(
  repository: string,
  pipeline: string,
  options: GraphOptions,
): Promise<number> {
  const extension = /\.([a-z]+)$/.exec(options.output ?? "")?.[1] ?? "";
  const format = options.format ?? formatOfExtension[extension] ?? "dot";
  if (!Object.hasOwn(formats, format)) {
    const help = didYouMean(format, Object.keys(formats));
    return refuse([{ code: "unknown-format", message: `no format named "${format}"`, help }], options.json);
  }
  const request = await rememberedRequest(repository, pipeline, options);
  if (!request) return 2;
  const { instances: read } = await readStates(repository, request);
  const stateOf = new Map(read.map(({ preview, state }) => [preview.index, state]));
  const graph = graphOf(request.plan, { stateOf, instances: options.instances });
  if (options.json) {
    for (const node of graph.nodes) printJson({ event: "node", ...node });
    for (const edge of graph.edges) printJson({ event: "edge", ...edge });
    const { pipeline: name, profile, selection } = request.plan;
    const line = {
      event: "summary",
      pipeline: name,
      profile,
      selection,
      nodes: graph.nodes.length,
      edges: graph.edges.length,
    };
    printJson(line);
    return 0;
  }
  const text = await formats[format]!(graph);
  if (options.output === undefined) process.stdout.write(text);
  else writeFileSync(rootFolder(repository, options.output), text);
  return 0;
}
