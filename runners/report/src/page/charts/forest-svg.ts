// The forest plot as SVG: a row for each task, and under it the differences over all tasks. A wide form has the
// names of tasks on the left, a form for phones has them above the rows.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.ts";
import { agentLooks, clipped, drawFigure } from "./draw-figure.ts";
import { type ForestCell, type ForestData, type ForestTask, forestWords } from "./forest-data.ts";

export type PlotForm = "wide" | "narrow";

export const forms = {
  wide: { width: 716, marginLeft: 186, head: 0 },
  narrow: { width: 350, marginLeft: 14, head: 20 },
} as const;

/** For the name of the reference model. */
export const marginRight = 44;
const rowPadding = 10;
/** Farther scores are drawn at the edge, so that one does not squeeze all others. */
export const [lowest, highest] = [-1, 3];

type Row = ForestCell & { y: number; task: ForestTask };

/** What several marks share. `behind`: so that no line crosses the letters. */
const behind = { stroke: "var(--ground)", strokeWidth: 4 };

export function forestSvg(data: ForestData, form: PlotForm): Html {
  const { width, marginLeft, head } = forms[form];
  const lines = Math.max(2, data.agents.length);
  const rowHeight = head + rowPadding + lines * (lines > 2 ? 11 : 14);
  const domain = domainOf(data);
  const free = rowHeight - head - rowPadding;
  const rows = data.tasks.flatMap((task, index) => {
    const first = index * rowHeight + head + rowPadding / 2;
    return task.agents.map(
      (cell, at): Row => ({ ...cell, task, y: first + ((at + 0.5) * free) / task.agents.length }),
    );
  });
  const scaled = rows.filter(({ task }) => task.scale === "normalised");
  const total = data.tasks.length * rowHeight;
  const looks = agentLooks(data.agents);
  return drawFigure(forestWords(data), {
    width,
    height: total + 74,
    marginTop: 30,
    marginLeft,
    marginRight,
    marginBottom: 44,
    x: {
      domain,
      clamp: true,
      ticks: form === "wide" ? 7 : 4,
      label: "normalised score (better is right)",
      tickSize: 4,
    },
    y: { domain: [total, 0], axis: null },
    marks: [
      ...frameMarks(data, { domain, rowHeight, isWide: form === "wide" }),
      ...intervalMarks(scaled, domain, looks.fill),
      ...seedMarks(scaled, looks.fill),
      ...meanMarks(scaled, domain, looks),
      // without a reference model, a value has no place on the shared axis
      Plot.text(
        rows.filter(({ task, at }) => task.scale === "own" && at !== null),
        {
          ...{ x: domain[0], dx: form === "wide" ? 8 : 0, y: "y", textAnchor: "start", fontSize: 11 },
          text: ({ agent, words, task }: Row) =>
            `${clipped(agent, 14)}: ${clipped(words.slice(task.metric!.length + 1), form === "wide" ? 68 : 38)}`,
          fill: looks.fill,
          ...behind,
        },
      ),
      Plot.text(
        rows.filter(({ at, seeds }) => at === null && seeds.every((seed) => seed.at === null)),
        {
          ...{ x: Math.max(0, domain[0]), dx: 6, y: "y", textAnchor: "start", fontSize: 11 },
          text: ({ agent }: Row) => `${clipped(agent)}: no value`,
          fill: "var(--bad)",
        },
      ),
    ],
  });
}

type Domain = [number, number];
type Looks = ReturnType<typeof agentLooks>;

function domainOf({ tasks }: ForestData): Domain {
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

type Frame = { domain: Domain; rowHeight: number; isWide: boolean };

/** Rules between the rows, the two ends of the scale, and the names of tasks. */
function frameMarks({ tasks }: ForestData, { domain, rowHeight, isWide }: Frame): Plot.Markish[] {
  /** `aside`: from the middle of a task's row, where names are beside the rows. */
  const at = (aside: number) => (_: ForestTask, index: number) =>
    index * rowHeight + (isWide ? rowHeight / 2 + aside : 12);
  const [left, right] = [
    { x: domain[0], textAnchor: "start", ...behind },
    { x: domain[1], textAnchor: "end", ...behind },
  ] as const;
  const beside = { ...left, textAnchor: "end", dx: -14 } as const;
  return [
    Plot.ruleY([...tasks.keys(), tasks.length], {
      y: (edge: number) => edge * rowHeight,
      stroke: "var(--rule)",
      ...(isWide && { insetLeft: -172 }),
    }),
    Plot.ruleX([0, 1], { stroke: "var(--line)", strokeDasharray: "3 3" }),
    Plot.text(isWide ? ["trivial baseline", "reference model"] : ["baseline", "ref. model"], {
      x: (_, end) => end,
      frameAnchor: "top",
      dy: -12,
      fontSize: 11,
      fill: "var(--soft)",
    }),
    Plot.text(tasks, {
      ...(isWide ? beside : left),
      y: at(-7),
      text: ({ task }: ForestTask) => clipped(task),
      fontWeight: 600,
      fill: "currentColor",
    }),
    Plot.text(tasks, {
      ...(isWide ? beside : right),
      y: at(8),
      text: metricLabel,
      fontSize: 11,
      fill: "var(--soft)",
    }),
  ];
}

/** At most as wide as the margin: in 11 px, more than 29 characters would leave the picture. */
function metricLabel({ metric, scale }: ForestTask): string {
  const own = scale === "own" ? ", own unit" : "";
  return `${clipped(metric ?? "no metric", 28 - own.length)}${own}`;
}

function intervalMarks(rows: Row[], [low, high]: Domain, stroke: Looks["fill"]): Plot.Markish[] {
  const from = ({ interval }: Row) => interval?.[0] ?? null;
  const to = ({ interval }: Row) => interval?.[1] ?? null;
  const sign = { y: "y", fontSize: 15, fill: stroke };
  return [
    Plot.ruleY(rows, { y: "y", x1: from, x2: to, stroke, strokeWidth: 1.75, strokeOpacity: 0.75 }),
    Plot.text(
      rows.filter(({ interval }) => interval && interval[0] < low),
      { ...sign, x: low, dx: -5, text: () => "‹" },
    ),
    Plot.text(
      rows.filter(({ interval }) => interval && interval[1] > high),
      { ...sign, x: high, dx: 5, text: () => "›" },
    ),
  ];
}

function seedMarks(rows: Row[], colour: Looks["fill"]): Plot.Markish[] {
  const seeds = rows.flatMap(({ y, agent, task: { task }, seeds: own }) =>
    own.flatMap((seed) => (seed.at === null ? [] : [{ ...seed, y, agent, task }])),
  );
  const [failed, others] = [true, false].map((is) => seeds.filter(({ kind }) => (kind === "failed") === is));
  const title = ({ task, agent, seed, words }: (typeof seeds)[number]) =>
    `${task}, ${agent}, seed ${seed}: ${words}`;
  const place = { x: "at", y: "y", title };
  return [
    Plot.dot(others!, { ...place, r: 3, fill: colour, fillOpacity: 0.3 }),
    Plot.dot(failed!, { ...place, r: 3.5, stroke: colour, strokeOpacity: 0.7, symbol: "times" }),
  ];
}

function meanMarks(rows: Row[], [low, high]: Domain, { fill, symbol }: Looks): Plot.Markish[] {
  const beyond = rows.filter(({ at }) => at !== null && (at < low || at > high));
  return [
    Plot.text(beyond, { x: "at", y: "y", dx: 10, text: () => "›", fontSize: 15, fill }),
    Plot.dot(
      rows.filter(({ at }) => at !== null),
      {
        ...{ x: "at", y: "y", r: 5, stroke: fill, strokeWidth: 1.75, fill, symbol },
        title: ({ agent, words, task }: Row) => `${task.task}, ${agent}: ${words}`,
      },
    ),
  ];
}
