// An attempt's best value so far, of its own lines or measured ones, over its time, as SVG.

import type { Times } from "@mlrb/formats/times";
import * as Plot from "@observablehq/plot";
import { type Html, html } from "../html.ts";
import { axisDomain, drawFigure } from "./draw-figure.ts";

type Timed = Times["attempts"][number];

/** Nothing where it reported fewer than two improvements or its duration is unknown. */
export function curvePart({ bestSoFar, wallSeconds }: Timed, metric: string): Html | false {
  if (bestSoFar.length < 2 || wallSeconds === null) return false;
  const last = bestSoFar.at(-1)!;
  const points = [...bestSoFar, { seconds: Math.max(wallSeconds, last.seconds), value: last.value }];
  const figure = drawFigure(
    `Best ${metric} of its iterations so far: ${bestSoFar.map(({ seconds, value }) => `${value} at ${seconds} s`).join(", ")}`,
    {
      height: 160,
      marginLeft: 60,
      marginBottom: 40,
      x: { domain: [0, points.at(-1)!.seconds], label: "seconds", labelArrow: "none" },
      y: {
        domain: axisDomain(
          0.08,
          points.map(({ value }) => value),
        ),
        ticks: 4,
        label: metric,
        labelArrow: "none",
      },
      marks: [
        Plot.line(points, { x: "seconds", y: "value", curve: "step-after", stroke: "var(--agent-1)" }),
        Plot.dot(bestSoFar, { x: "seconds", y: "value", r: 3, fill: "var(--agent-1)" }),
      ],
    },
  );
  return html`<figure><figcaption>Best ${metric} of its iterations so far</figcaption>
${figure}</figure>`;
}
