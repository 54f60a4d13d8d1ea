// The forest plot as SVG: a row for each task, and under it the differences over all tasks. A wide form has the
// names of tasks on the left, a form for phones has them above the rows.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import { agentColour, agentShape, clipped, drawFigure } from "./draw-figure.ts";
import { type ForestCell, type ForestData, type ForestTask, forestWords } from "./forest-data.ts";

export type PlotForm = "wide" | "narrow";

export const forms = {
  wide: { width: 716, marginLeft: 186, head: 0 },
  narrow: { width: 350, marginLeft: 14, head: 20 },
} as const;

/** For the name of the reference model. */
export const marginRight = 44;
const rowPadding = 10;
const [lowest, highest] = [-1, 3];

/** Far scores are drawn at the edge, so that one does not squeeze all others. */
export function within(score: number): number {
  return Math.min(Math.max(score, lowest), highest);
}

type Row = { y: number; at: number | null; to?: [number, number]; cell: ForestCell; task: ForestTask };

export function forestSvg(data: ForestData, form: PlotForm): Html {
  const { width, marginLeft, head } = forms[form];
  const lines = Math.max(2, data.agents.length);
  const rowHeight = head + rowPadding + lines * (lines > 2 ? 11 : 14);
  const domain = domainOf(data);
  const inside = (value: number) => Math.min(Math.max(value, domain[0]), domain[1]);
  const first = (index: number) => index * rowHeight + head + rowPadding / 2;
  const free = rowHeight - head - rowPadding;
  const rows = data.tasks.flatMap((task, index) =>
    task.agents.map(
      (cell, place): Row => ({
        y: first(index) + ((place + 0.5) * free) / task.agents.length,
        at: cell.at === null ? null : inside(cell.at),
        ...(cell.interval && {
          to: [inside(cell.interval[0]), inside(cell.interval[1])] as [number, number],
        }),
        cell,
        task,
      }),
    ),
  );
  const scaled = rows.filter(({ task }) => task.scale === "normalised");
  const total = data.tasks.length * rowHeight;
  return drawFigure(forestWords(data), {
    width,
    height: total + 74,
    marginTop: 30,
    marginLeft,
    marginRight,
    marginBottom: 44,
    x: {
      domain,
      ticks: form === "wide" ? 7 : 4,
      label: "normalised score (better is right)",
      labelAnchor: "center",
      labelArrow: "none",
      tickSize: 4,
    },
    y: { domain: [total, 0], axis: null },
    marks: [
      ...frameMarks(data, { domain, rowHeight, total, form }),
      ...intervalMarks(scaled, { domain, agents: data.agents }),
      ...seedMarks(scaled, { inside, agents: data.agents }),
      ...meanMarks(scaled, data.agents),
      // without a reference model, a value has no place on the shared axis
      Plot.text(
        rows.filter(({ task, at }) => task.scale === "own" && at !== null),
        {
          ...{ x: domain[0], dx: form === "wide" ? 8 : 0, y: "y", textAnchor: "start", fontSize: 11 },
          text: ({ cell, task }: Row) =>
            `${clipped(cell.agent, 14)}: ${clipped(cell.words.slice(task.metric!.length + 1), form === "wide" ? 68 : 38)}`,
          fill: ({ cell }: Row) => agentColour(cell.agent, data.agents),
          stroke: "var(--ground)",
          strokeWidth: 4,
        },
      ),
      Plot.text(
        rows.filter(({ at, cell }) => at === null && cell.seeds.every((seed) => seed.at === null)),
        {
          x: Math.max(0, domain[0]),
          dx: 6,
          y: "y",
          text: ({ cell }: Row) => `${clipped(cell.agent)}: no value`,
          textAnchor: "start",
          fontSize: 11,
          fill: "var(--bad)",
        },
      ),
    ],
  });
}

function domainOf({ tasks }: ForestData): [number, number] {
  const cells = tasks.flatMap(({ agents, scale }) => (scale === "own" ? [] : agents));
  const points = cells
    .flatMap(({ at, seeds }) => [at, ...seeds.map((seed) => seed.at)])
    .filter((at) => at !== null);
  const ends = cells.flatMap(({ interval }) => interval ?? []);
  const low = Math.max(lowest, Math.min(0, ...points, ...ends.map((end) => Math.max(end, -0.25))));
  const high = Math.min(highest, Math.max(1, ...points, ...ends.map((end) => Math.min(end, 1.5))));
  const room = (high - low) * 0.05;
  return [low - room, high + room];
}

type Frame = { domain: [number, number]; rowHeight: number; total: number; form: PlotForm };

/** Rules between the rows, the two ends of the scale, and the names of tasks. */
function frameMarks({ tasks }: ForestData, { domain, rowHeight, total, form }: Frame): Plot.Markish[] {
  const edges = tasks.map((_, index) => index * rowHeight);
  const wide = form === "wide";
  const named = tasks.map(({ task, metric, scale }, index) => ({
    y: index * rowHeight + (wide ? rowHeight / 2 - 7 : 12),
    below: index * rowHeight + (wide ? rowHeight / 2 + 8 : 12),
    task,
    metric: metricLabel(metric, scale),
  }));
  const text = { x: domain[0], textAnchor: wide ? "end" : "start" } as const;
  // the background around a name hides the rules behind it
  const at = { dx: wide ? -14 : 0, stroke: "var(--ground)", strokeWidth: 4 };
  return [
    Plot.ruleY([...edges, total], { stroke: "var(--rule)", ...(wide && { insetLeft: -172 }) }),
    Plot.ruleX([0, 1], { stroke: "var(--line)", strokeDasharray: "3 3" }),
    Plot.text(
      [
        { at: 0, name: wide ? "trivial baseline" : "baseline" },
        { at: 1, name: wide ? "reference model" : "ref. model" },
      ],
      { x: "at", text: "name", frameAnchor: "top", dy: -12, fontSize: 11, fill: "var(--soft)" },
    ),
    Plot.text(named, {
      ...text,
      ...at,
      y: "y",
      text: ({ task }: { task: string }) => clipped(task),
      fontWeight: 600,
      fill: "currentColor",
    }),
    Plot.text(named, {
      ...(wide ? text : { ...text, x: domain[1], textAnchor: "end" }),
      ...at,
      y: "below",
      text: "metric",
      fontSize: 11,
      fill: "var(--soft)",
    }),
  ];
}

/** At most as wide as the margin: in 11 px, more than 29 characters would leave the picture. */
function metricLabel(metric: string | null, scale: ForestTask["scale"]): string {
  const own = scale === "own" ? ", own unit" : "";
  return `${clipped(metric ?? "no metric", 28 - own.length)}${own}`;
}

function intervalMarks(
  rows: Row[],
  { domain, agents }: { domain: [number, number]; agents: string[] },
): Plot.Markish[] {
  const known = rows.filter(({ to }) => to !== undefined);
  const stroke = ({ cell }: Row) => agentColour(cell.agent, agents);
  const cut = (side: 0 | 1, sign: string) =>
    Plot.text(
      known.filter(({ cell }) =>
        side === 0 ? cell.interval![0] < domain[0] : cell.interval![1] > domain[1],
      ),
      { x: domain[side], y: "y", dx: side === 0 ? -5 : 5, text: () => sign, fontSize: 15, fill: stroke },
    );
  return [
    Plot.ruleY(known, {
      y: "y",
      x1: ({ to }: Row) => to![0],
      x2: ({ to }: Row) => to![1],
      stroke,
      strokeWidth: 1.75,
      strokeOpacity: 0.75,
    }),
    cut(0, "‹"),
    cut(1, "›"),
  ];
}

function seedMarks(
  rows: Row[],
  { inside, agents }: { inside: (value: number) => number; agents: string[] },
): Plot.Markish[] {
  const seeds = rows.flatMap(({ y, cell, task }) =>
    cell.seeds.flatMap((seed) =>
      seed.at === null ? [] : [{ ...seed, y, at: inside(seed.at), agent: cell.agent, task: task.task }],
    ),
  );
  type One = (typeof seeds)[number];
  const title = ({ task, agent, seed, words }: One) => `${task}, ${agent}, seed ${seed}: ${words}`;
  const colour = ({ agent }: One) => agentColour(agent, agents);
  return [
    Plot.dot(
      seeds.filter(({ kind }) => kind !== "failed"),
      { x: "at", y: "y", r: 3, fill: colour, fillOpacity: 0.3, title },
    ),
    Plot.dot(
      seeds.filter(({ kind }) => kind === "failed"),
      { x: "at", y: "y", r: 3.5, stroke: colour, strokeOpacity: 0.7, symbol: "times", title },
    ),
  ];
}

function meanMarks(rows: Row[], agents: string[]): Plot.Markish[] {
  const colour = ({ cell }: Row) => agentColour(cell.agent, agents);
  const beyond = rows.filter(({ at, cell }) => at !== cell.at);
  return [
    Plot.text(beyond, { x: "at", y: "y", dx: 10, text: () => "›", fontSize: 15, fill: colour }),
    Plot.dot(
      rows.filter(({ at }) => at !== null),
      {
        x: "at",
        y: "y",
        r: 5,
        stroke: colour,
        strokeWidth: 1.75,
        fill: colour,
        symbol: (({ cell }: Row) => agentShape(cell.agent, agents)) as never,
        title: ({ cell, task }: Row) => `${task.task}, ${cell.agent}: ${cell.words}`,
      },
    ),
  ];
}
