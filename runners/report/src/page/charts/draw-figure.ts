// What the page's figures share: Observable Plot draws them when the page is made, so that the page needs no
// library. Colours come from the page's style, which has them for light, dark and print.
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { type Html, html, trusted } from "../html.ts";

/** `words` describe the figure to readers who do not see it. */
export function drawFigure(words: string, options: Plot.PlotOptions & { width: number }): Html {
  const { document } = parseHTML("<html><body></body></html>");
  const svg = Plot.plot({
    document: document as never, // linkedom's, which has all that Plot uses
    style: { fontSize: "13px" },
    ...options,
    x: { labelAnchor: "center", labelArrow: "none", ...options.x },
    y: { labelArrow: "none", ...options.y },
    color: { type: "identity" },
  });
  // Plot names its groups, which have no role that may have a name; the figure as a whole gets the name instead
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", words);
  return trusted(svg.outerHTML);
}

/** The ends of an axis: those of `values`, with room on both sides. */
export function axisDomain(room: number, values: number[]): [low: number, high: number] {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const margin = (high - low || Math.abs(high) || 1) * room;
  return [low - margin, high + margin];
}

type OfAgent = { agent: string };

const signs = { circle: "●", square: "■", triangle: "▲", diamond: "◆", star: "★", wye: "Y" } as const;

/** The agent's shape in its colour. */
export function agentSign(agent: string, agents: readonly string[]): Html {
  return html`<span class="sign" style="color:${agentColour(agent, agents)}" aria-hidden="true">${signs[agentShape(agent, agents)]}</span>`;
}

/** For figures without room for the agents' names. */
export function agentLegend(agents: readonly string[]): Html {
  return html`<ul class="legend" aria-label="Agents">${agents.map((agent) => html`<li>${agentSign(agent, agents)} ${agent}</li>`)}</ul>`;
}

/** Agents get the page's colours `--agent-1` and on, in the report's order. */
export function agentColour(agent: string, agents: readonly string[]): string {
  return `var(--agent-${(agents.indexOf(agent) % 6) + 1})`;
}

/** For readers who cannot tell the colours apart; never the cross, which is a failed attempt. */
function agentShape(agent: string, agents: readonly string[]): keyof typeof signs {
  const shapes = Object.keys(signs) as (keyof typeof signs)[];
  return shapes[agents.indexOf(agent) % shapes.length]!;
}

/** A disc or shape for each agent, in its colour. */
export function agentLooks(agents: readonly string[]) {
  return {
    fill: ({ agent }: OfAgent) => agentColour(agent, agents),
    symbol: (({ agent }: OfAgent) => agentShape(agent, agents)) as never,
  };
}

export function clipped(text: string, charactersMax = 24): string {
  if (text.length <= charactersMax) return text;
  const head = Math.ceil((charactersMax - 1) / 2); // names of one preset differ at their ends
  return `${text.slice(0, head)}…${text.slice(head + 1 - charactersMax)}`;
}
