// A graph as a Mermaid flowchart, which GitHub and many wikis render.
// Pure: no disk, no clock.

import { states } from "../show/instance-state.ts";
import { oneLine } from "../show/print.ts";
import type { Graph } from "./graph.ts";
import { edgeLabel, privateColour, stateColours } from "./graph-style.ts";

export function graphMermaid({ title, nodes, edges }: Graph): string {
  const names = new Map(nodes.map(({ id }, at) => [id, `n${at}`]));
  const out = ["---", `title: ${JSON.stringify(oneLine(title))}`, "---", "flowchart LR"];
  for (const { id, name, lines, durable } of nodes) {
    const [open, close] = durable ? ["[[", "]]"] : ["[", "]"];
    out.push(`  ${names.get(id)}${open}${quoted([name, ...lines])}${close}`);
  }
  for (const edge of edges) {
    const arrow = edge.kind === "needed" ? "-->" : "-.->";
    out.push(`  ${names.get(edge.from)} ${arrow}|${quoted([edgeLabel(edge)])}| ${names.get(edge.to)}`);
  }
  for (const state of states) {
    const members = nodes.filter((node) => node.state === state).map(({ id }) => names.get(id));
    if (members.length === 0) continue;
    out.push(`  classDef ${state} fill:${stateColours[state]},stroke:#444444,color:#000000`);
    out.push(`  class ${members.join(",")} ${state}`);
  }
  const untrusted = nodes.filter((node) => node.untrusted).map(({ id }) => names.get(id));
  if (untrusted.length > 0)
    out.push("  classDef untrusted stroke-dasharray:5 5", `  class ${untrusted.join(",")} untrusted`);
  const hidden = edges.flatMap((edge, at) => (edge.private ? [at] : []));
  if (hidden.length > 0)
    out.push(`  linkStyle ${hidden.join(",")} stroke:${privateColour},color:${privateColour}`);
  return `${out.join("\n")}\n`;
}

/** Escapes markup characters by number; Mermaid uses `#` where HTML has `&`. */
function quoted(lines: string[]): string {
  const escaped = lines.map((line) =>
    oneLine(line).replace(/[#"<>&`\\[\]{}|]/g, (character) => `#${character.codePointAt(0)};`),
  );
  return `"${escaped.join("<br/>")}"`;
}
