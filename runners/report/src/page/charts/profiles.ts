// Performance profiles: for each k a figure with a falling line for each agent.
import type { Report } from "@mlrb/formats/report";
import type { BestOf } from "@mlrb/formats/report/best-of";
import * as Plot from "@observablehq/plot";
import { type Html, html } from "../html.ts";
import { agentLegend, agentLooks, axisDomain, drawFigure } from "./draw-figure.ts";

export const profilesCaption =
  "Performance profiles: the share of attempts, or of those chosen as best of k, whose normalised score is over the value " +
  "below, as the mean over tasks. 0 is the trivial baseline, 1 the reference model. Higher is better; without intervals, so a " +
  "small distance shows nothing.";

type Profile = BestOf["profiles"][number];

/** The profiles of each k; empty without a common scale. */
export function profileGroups({ bestOf }: Pick<Report, "bestOf">): Profile[][] {
  return [...Map.groupBy(bestOf?.profiles ?? [], ({ k }) => k).values()];
}

export function profilesPart(report: Report): Html {
  const groups = profileGroups(report);
  if (groups.length === 0) return html``;
  return html`<section aria-labelledby="profiles"><div class="title"><h2 id="profiles">Performance profiles</h2> ${agentLegend(report.agents.map(({ name }) => name))}</div>
<div class="figures small">${groups.map((profiles) => html`<figure>${profileSvg(report, profiles)}</figure>`)}</div>
<p class="caption">${profilesCaption}</p></section>
`;
}

/** `name`: of an agent, for readers. */
export function profileSvg(
  report: Report,
  profiles: readonly Profile[],
  { width = 400, name = (agent: string) => agent } = {},
): Html {
  const all = profileGroups(report).flat();
  const [low, high] = axisDomain(0.05, [
    0,
    1,
    ...all.flatMap(({ steps }) => steps.map(({ above }) => above)),
  ]);
  const { k } = profiles[0]!;
  const title = k === 1 ? "share of single attempts" : `share of the best of ${k}`;
  const points = profiles.flatMap(({ agent, steps }) => [
    { agent, above: low, share: 1 },
    ...steps.map((step) => ({ agent, ...step })),
    { agent, above: high, share: 0 },
  ]);
  const words = profiles.map(({ agent, steps, tasks }) => {
    const shares = steps.map(({ above, share }) => `${share.toFixed(2)} over ${above.toFixed(2)}`);
    return `${name(agent)} (${tasks.join(", ")}): ${shares.join(", ")}`;
  });
  const looks = agentLooks(report.agents.map((one) => one.name));
  const line = { x: "above", y: "share", z: "agent", stroke: looks.fill };
  return drawFigure([title, ...words].join(". "), {
    ...{ width, height: 270, marginTop: 26, marginLeft: 56, marginRight: 24, marginBottom: 48 },
    x: { domain: [low, high], ticks: 5, label: "normalised score" },
    y: { domain: [0, 1.02], ticks: 5, grid: true, label: title },
    marks: [
      Plot.ruleX([0, 1], { stroke: "var(--line)", strokeDasharray: "4 3" }),
      Plot.line(points, { ...line, curve: "step-after", strokeWidth: 2 }),
      Plot.dot(
        points.filter(({ above }) => above > low && above < high),
        { x: "above", y: "share", ...looks, r: 4 },
      ),
    ],
  });
}
