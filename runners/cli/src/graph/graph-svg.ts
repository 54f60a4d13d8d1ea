// A graph as SVG, or as text of Graphviz, by Graphviz compiled to WebAssembly, so that it need not be installed.
import { instance } from "@viz-js/viz";
import type { InstanceState } from "../show/instance-state.ts";
import { oneLine } from "../show/print.ts";
import type { Graph, GraphEdge } from "./graph.ts";

const font = { fontname: "Helvetica,Arial,sans-serif" };
const line = { color: "#444444", ...font };

/** `canon`: in the DOT language, without places. */
export async function graphSvg(
  { title, nodes, edges }: Graph,
  format: "svg" | "canon" = "svg",
): Promise<string> {
  const graphviz = await instance();
  const drawn = {
    name: title,
    graphAttributes: { rankdir: "LR", label: literal([title]), labelloc: "t", ...font },
    nodeAttributes: { shape: "box", margin: "0.25,0.1", style: "filled", ...line, fontsize: 11 },
    edgeAttributes: { ...line, fontsize: 9 },
    nodes: nodes.map(({ id, name, lines, state, durable, untrusted, href }) => ({
      name: id,
      attributes: {
        label: literal([name, ...lines]),
        fillcolor: stateColours[state],
        ...(durable && { peripheries: 2 }),
        ...(untrusted && { style: "filled,dashed" }),
        ...(href !== undefined && { URL: literal([href]), tooltip: literal([name]) }),
      },
    })),
    edges: edges.map((edge) => ({
      tail: edge.from,
      head: edge.to,
      attributes: {
        label: literal([edgeLabel(edge)]),
        style: edgeStyles[edge.kind],
        ...(edge.private && { color: privateColour, fontcolor: privateColour }),
      },
    })),
  };
  return graphviz.renderString(drawn, { format });
}

// Colour is never the only sign: a node also names its state, and a private artifact is marked in words.

/** Light enough for dark text. */
const stateColours: Record<InstanceState, string> = {
  upToDate: "#d9f2d9",
  running: "#cfe4ff",
  failed: "#f8d0d0",
  stale: "#ffe3a8",
  uncertain: "#fff6d8",
  neverRun: "#eeeeee",
};

const privateColour = "#b00020";

function edgeLabel({ outputs, private: isPrivate }: GraphEdge): string {
  const said = outputs.every((name) => name === "private");
  return `${outputs.join(", ")}${isPrivate && !said ? " (private)" : ""}`;
}

/** Dashed where outcomes do not matter, dotted where nothing is read. */
const edgeStyles: Record<GraphEdge["kind"], string> = {
  needed: "solid",
  collected: "dashed",
  after: "dotted",
};

/** Graphviz reads a backslash as an escape (`\\N` is the node's name) and `&…;` as an entity. */
function literal(lines: string[]): string {
  return lines.map((text) => oneLine(text).replaceAll("&", "&amp;").replaceAll("\\", "\\\\")).join("\\n");
}
