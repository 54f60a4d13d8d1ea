// `pipeline graph`: writes the pipeline as text of Graphviz or SVG.
import { writeFileSync } from "node:fs";
import { extname } from "node:path";
import { readStates } from "../attempts/read-states.ts";
import { graphOf } from "../graph/graph.ts";
import { refuse } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import { printJson } from "../show/print.ts";

type GraphOptions = CommonOptions & { all: boolean; instances: boolean; output?: string };

/** By the end of a file's name. */
const formats = { dot: "canon", svg: "svg" } as const;

export async function graphCommand(
  repository: string,
  pipeline: string,
  options: GraphOptions,
): Promise<number> {
  const format = options.output === undefined ? "dot" : extname(options.output).slice(1);
  if (!Object.hasOwn(formats, format)) {
    const message = `no format named "${format}"`;
    const help = "end the name of the file in .svg, or in .dot for Graphviz";
    return refuse([{ code: "unknown-format", message, help }], options.json);
  }
  const request = await rememberedRequest(repository, pipeline, options);
  if (!request) return 2;
  const { instances: read } = await readStates(repository, request);
  const stateOf = new Map(read.map(({ preview, state }) => [preview.index, state]));
  const graph = graphOf(request.plan, { stateOf, ...options });
  if (options.json) {
    for (const node of graph.nodes) printJson({ event: "node", ...node });
    for (const edge of graph.edges) printJson({ event: "edge", ...edge });
    const { pipeline: name, profile, selection } = request.plan;
    const counts = { nodes: graph.nodes.length, edges: graph.edges.length };
    printJson({ event: "summary", pipeline: name, profile, selection, ...counts });
    return 0;
  }
  // on demand: Graphviz is larger than the rest of the program
  const { graphSvg } = await import("../graph/graph-svg.ts");
  const text = await graphSvg(graph, formats[format as keyof typeof formats]);
  if (options.output === undefined) process.stdout.write(text);
  else writeFileSync(rootFolder(repository, options.output), text);
  return 0;
}
