// A graph in the DOT language of Graphviz.
// Pure: no disk, no clock.
import { oneLine } from "../show/one-line.ts";
import type { Graph } from "./graph.ts";
import { edgeLabel, edgeStyles, privateColour, stateColours } from "./graph-style.ts";

export function graphDot({ title, nodes, edges }: Graph): string {
  const out = [
    `digraph ${quoted([title])} {`,
    `  graph [rankdir=LR, label=${quoted([title])}, labelloc=t, fontname="Helvetica,Arial,sans-serif"]`,
    '  node [shape=box, margin="0.25,0.1", style="filled", color="#444444", fontname="Helvetica,Arial,sans-serif", fontsize=11]',
    '  edge [color="#444444", fontname="Helvetica,Arial,sans-serif", fontsize=9]',
  ];
  for (const { id, name, lines, state, durable, untrusted, href } of nodes) {
    const looks = [
      `label=${quoted([name, ...lines])}`,
      `fillcolor="${stateColours[state]}"`,
      ...(durable ? ["peripheries=2"] : []),
      ...(untrusted ? ['style="filled,dashed"'] : []),
      ...(href === undefined ? [] : [`URL=${quoted([href])}`, `tooltip=${quoted([name])}`]),
    ];
    out.push(`  ${quoted([id])} [${looks.join(", ")}]`);
  }
  for (const edge of edges) {
    const looks = [
      `label=${quoted([edgeLabel(edge)])}`,
      ...(edge.private ? [`color="${privateColour}"`, `fontcolor="${privateColour}"`] : []),
      ...edgeStyles[edge.kind],
    ];
    out.push(`  ${quoted([edge.from])} -> ${quoted([edge.to])} [${looks.join(", ")}]`);
  }
  return `${[...out, "}"].join("\n")}\n`;
}

/** Graphviz reads a backslash as an escape (`\\N` is the node's name) and `&…;` as an entity. */
function quoted(lines: string[]): string {
  const escaped = lines.map((line) =>
    oneLine(line).replaceAll("&", "&amp;").replaceAll("\\", "\\\\").replaceAll('"', '\\"'),
  );
  return `"${escaped.join("\\n")}"`;
}
