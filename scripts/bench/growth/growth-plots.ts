// Draws docs/performance/growth.json: processor time and memory of each step against stages, records and events,
// both axes logarithmic, with a line that grows as the size does. The files have their own colours for light and
// dark.
import { drawFigure } from "@mlrb/report/page/charts/draw-figure";
import * as Plot from "@observablehq/plot";
import type { Growth, GrowthStep, Measured } from "./growth-words.ts";

const colours = {
  light: ["#0b62a4", "#b3470b", "#2b7a3d", "#7b3fa0", "#8a6d00"],
  dark: ["#6db3ea", "#f0a06a", "#84cf95", "#cda1e8", "#dcc266"],
};
const theme = (steps: string[], text: string, line: string) =>
  `svg{color:${text}${steps.map((colour, at) => `;--step-${at}:${colour}`).join("")};--line:${line}}`;
const style = `<style>${theme(colours.light, "#1b1d20", "#6f757c")}@media (prefers-color-scheme:dark){${theme(colours.dark, "#e6e8ea", "#99a0a8")}}</style>`;

type Field = "cpuSeconds" | "peakMiB";
const labels: Record<Field, string> = { cpuSeconds: "processor time, s", peakMiB: "peak memory, MiB" };

/** SVG files by name. */
export function drawPlots(growth: Growth): Map<string, string> {
  const files = new Map<string, string>();
  for (const against of new Set(growth.steps.map((step) => step.against)))
    for (const field of ["cpuSeconds", "peakMiB"] as const) {
      const steps = growth.steps.filter((step) => step.against === against);
      files.set(`growth-${against}-${field === "cpuSeconds" ? "time" : "memory"}.svg`, plot(steps, field));
    }
  return files;
}

function plot(steps: GrowthStep[], field: Field): string {
  const { against } = steps[0]!;
  const points = steps.flatMap(({ step, measured }, at) =>
    measured.map((one) => ({ step, colour: `var(--step-${at})`, size: one.size, value: one[field] })),
  );
  const values = points.map(({ value }) => value);
  const last = steps.map(({ step, measured }, at) => ({
    step,
    colour: `var(--step-${at})`,
    ...end(measured, field),
  }));
  const { markup } = drawFigure(
    `${labels[field]} against ${against}. ${steps.map(({ step, measured }) => `${step}: ${measured.map((one) => `${one[field]} at ${one.size}`).join(", ")}`).join(". ")}. The dashed line grows as the size does.`,
    {
      width: 640,
      height: 360,
      marginLeft: 60,
      marginRight: 190, // for the names of the steps
      marginBottom: 44,
      x: {
        type: "log",
        label: against,
        labelAnchor: "center",
        labelArrow: "none",
        ticks: 5,
        tickFormat: "~s",
      },
      y: { type: "log", label: labels[field], labelArrow: "none", grid: true, ticks: 5, tickFormat: "~r" },
      marks: [
        Plot.line(linear(points), { x: "size", y: "value", stroke: "var(--line)", strokeDasharray: "4 3" }),
        Plot.line(points, { x: "size", y: "value", z: "step", stroke: "colour", strokeWidth: 1.8 }),
        Plot.dot(points, { x: "size", y: "value", r: 3, fill: "colour" }),
        Plot.text(apartLog(last, values), {
          x: "size",
          y: "at",
          text: "step",
          dx: 8,
          textAnchor: "start",
          fill: "colour",
        }),
      ],
    },
  );
  return `${markup
    .replace("  height: intrinsic;\n", "")
    .replace(/^<svg /, '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace(">", `>${style}`)}\n`;
}

function end(measured: Measured[], field: Field): { size: number; value: number } {
  const last = measured.at(-1)!;
  return { size: last.size, value: last[field] };
}

/** From the lower left: as many times the value as the size, up to the largest value. */
function linear(points: { size: number; value: number }[]): { size: number; value: number }[] {
  const sizes = points.map(({ size }) => size);
  const values = points.map(({ value }) => value);
  const [from, least] = [Math.min(...sizes), Math.min(...values)];
  const times = Math.min(Math.max(...sizes) / from, Math.max(...values) / least);
  return [1, times].map((each) => ({ size: from * each, value: least * each }));
}

/** Names at their values, or further up where two would be closer than a line of text. */
function apartLog<T extends { value: number }>(labelled: T[], values: number[]): (T & { at: number })[] {
  const step = (Math.max(...values) / Math.min(...values)) ** (16 / 290);
  let last = 0;
  return labelled
    .toSorted((a, b) => a.value - b.value)
    .map((one) => {
      last = Math.max(one.value, last * step);
      return { ...one, at: last };
    });
}
