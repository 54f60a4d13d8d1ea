// The pairs of agents over all tasks as a matrix: how often an attempt of the row's agent is better than one of the
// column's.
import type { Report } from "@mlrb/formats/report";
import * as Plot from "@observablehq/plot";
import { level, pairTests } from "../../compare/headline-facts.ts";
import { type Html, html } from "../html.ts";
import { clipped, drawFigure } from "./draw-figure.ts";

export type Win = { row: string; column: string; share: number; interval: [number, number]; shown: boolean };

/** Both directions of every pair that could be tested. `shown`: the agents differ by Holm over the pairs. */
export function wins({ agentComparisons }: Report): Win[] {
  const tests = pairTests(agentComparisons);
  return agentComparisons.flatMap(({ agents, overall }) => {
    if (overall.kind !== "tested") return [];
    const [a, b] = agents;
    const { statistic: share, interval } = overall;
    const [low, high] = interval;
    const shown = tests.some((test) => test.agents === agents && test.p <= level);
    return [
      { row: a, column: b, share, interval, shown },
      { row: b, column: a, share: 1 - share, interval: [1 - high, 1 - low] as [number, number], shown },
    ];
  });
}

/** Empty where no pair could be tested. */
export function winMatrix(report: Report): Html {
  const found = wins(report);
  if (found.length === 0) return html``;
  return html`<section aria-labelledby="wins"><h2 id="wins">How often each agent is better</h2>
<p class="caption">P(an attempt of the row is better than one of the column), mean over tasks, ties half, with its 95 % interval. Bold: they differ (Holm).</p>
<figure>${winsSvg(report, found)}</figure></section>
`;
}

const [cell, left] = [84, 96];

function winsSvg(report: Report, found: Win[]): Html {
  const agents = report.agents.map(({ name }) => name);
  const shade = ({ share }: Win) => Math.round(8 * Math.max(0, 2 * share - 1));
  const text = (shown: boolean) =>
    Plot.text(
      found.filter((one) => one.shown === shown),
      {
        ...{ x: "column", y: "row", text: winText, fontSize: 12, fontWeight: shown ? 700 : 400 },
        fill: (one: Win) => (shade(one) >= 6 ? "var(--ground)" : "currentColor"),
      },
    );
  const named = {
    domain: agents,
    padding: 0,
    tickSize: 0,
    label: null,
    tickFormat: (name: string) => clipped(name, 11),
  };
  return drawFigure(found.map((one) => `${one.row} better than ${one.column}: ${winText(one)}`).join("; "), {
    ...{ width: left + cell * agents.length + 8, height: 24 + 52 * agents.length },
    ...{ marginTop: 22, marginLeft: left, marginRight: 8, marginBottom: 2 },
    x: { ...named, axis: "top" },
    y: named,
    marks: [
      Plot.cell(found, {
        ...{ x: "column", y: "row", inset: 1, fill: (one: Win) => `var(--h${shade(one)})` },
        title: (one: Win) => `${one.row} better than ${one.column}: ${winText(one)}`,
      }),
      text(true),
      text(false),
    ],
  });
}

function winText({ share, interval: [low, high] }: Win): string {
  return `${share.toFixed(2)}\n${low.toFixed(2)}–${high.toFixed(2)}`;
}
