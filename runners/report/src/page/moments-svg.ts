// A task's figure over time as SVG, drawn when the page is made, in the colours of the page's style.
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { agentColour, agentShape, clipped } from "./figure-looks.ts";
import { type Html, trusted } from "./html.ts";
import { type MomentPoint, type MomentsData, momentsWords } from "./moments-data.ts";

type Mean = MomentsData["means"][number];

const width = 560;

export function momentsSvg(data: MomentsData, agents: string[]): Html {
  const { document } = parseHTML("<html><body></body></html>");
  const stroke = ({ agent }: { agent: string }) => agentColour(agent, agents);
  const shape = ({ agent }: { agent: string }) => agentShape(agent, agents);
  const values = [...data.points, ...data.means.map(({ mean }) => ({ value: mean }))].map(
    ({ value }) => value,
  );
  if (data.floor !== null) values.push(data.floor);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  const ends = [...Map.groupBy(data.means, ({ agent }) => agent).values()].map((own) => own.at(-1)!);
  const labels = apart(ends, ((high - low + 2 * room) / 230) * 15);
  const svg = Plot.plot({
    document: document as never, // linkedom's, which has what Plot asks of one
    width,
    height: 300,
    style: { fontSize: "13px" },
    marginTop: 24,
    marginLeft: 60,
    marginRight: 130, // the agents' names stand there
    marginBottom: 46,
    x: {
      domain: [0, 1],
      ticks: data.shares.map(({ share }) => share),
      tickFormat: (share: number) => data.shares.find((one) => one.share === share)?.moment ?? "",
      label: "share of the budget",
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: {
      domain: [low - room, high + room],
      ticks: 6,
      label: `${data.metric} (${data.unit}), ${data.direction} is better`,
      labelArrow: "none",
    },
    marks: [
      ...(data.floor === null
        ? []
        : [
            Plot.ruleY([data.floor], { stroke: "var(--line)", strokeWidth: 2, strokeDasharray: "4 3" }),
            Plot.text([data.floor], {
              y: (value: number) => value,
              x: 0,
              text: () => "trivial baseline",
              textAnchor: "start",
              dy: -8,
              dx: 4,
              fill: "currentColor",
            }),
          ]),
      Plot.line(data.means, { x: "share", y: "mean", z: "agent", stroke, strokeWidth: 2 }),
      ...(["counts", "failed"] as const).map((kind) =>
        Plot.dot(
          data.points.filter((point) => point.kind === kind),
          {
            x: "share",
            y: "value",
            stroke,
            fill: kind === "counts" ? stroke : "none",
            fillOpacity: 0.45,
            symbol: kind === "counts" ? shape : "times",
            r: 5,
            title: ({ agent, seed, words }: MomentPoint) => `${agent}, seed ${seed}: ${words}`,
          },
        ),
      ),
      Plot.text(labels, {
        x: "share",
        y: "at",
        text: ({ agent }: Mean) => clipped(agent),
        textAnchor: "start",
        dx: 10,
        fill: stroke,
      }),
    ],
    color: { type: "identity" },
  });
  // Plot names its groups, which have no role that could have a name; the whole is named instead
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", momentsWords(data));
  return trusted(svg.outerHTML);
}

/** Where lines end close together, their names are moved apart. */
function apart(ends: Mean[], least: number): (Mean & { at: number })[] {
  let last = Number.NEGATIVE_INFINITY;
  return [...ends]
    .sort((a, b) => a.mean - b.mean)
    .map((end) => {
      last = Math.max(end.mean, last + least);
      return { ...end, at: last };
    });
}
