// What tables print of an attempt's ledger: durations, tokens, dollars and GPUs, each column in one unit.
import type { Times } from "@mlrb/formats/times";
import type { Quantity } from "./column-scale.ts";

type Timed = Times["attempts"][number];

type AmountOfAttempt = {
  head: string;
  /** Of the values; the head names it, or the larger unit of a column with large values. */
  unit: string;
  quantity?: Quantity;
  digits: number;
  of: (attempt: Timed) => number | null;
};

export function headOf(head: string, unit: string): string {
  return unit === "" ? head : `${head}, ${unit}`;
}

const seconds = { unit: "s", quantity: "seconds", digits: 1 } as const;
const percent = { unit: "%", digits: 0 } as const;

export const durationColumns: AmountOfAttempt[] = [
  { head: "time", ...seconds, of: ({ wallSeconds }) => wallSeconds },
  { head: "budget", ...seconds, digits: 0, of: ({ budgetSeconds }) => budgetSeconds },
];

export const spentColumns: (AmountOfAttempt & {
  means?: string;
  /** Whether a known value is worth a column; by default, if it is above zero. */
  isShown?: (value: number, attempt: Timed) => boolean;
})[] = [
  {
    head: "working",
    ...seconds,
    of: ({ workingSeconds }) => workingSeconds,
    isShown: (working, { wallSeconds }) => wallSeconds !== null && wallSeconds - working >= 1,
    means: "Working: without waits in which the attempt's programs were frozen.",
  },
  {
    head: "resumed",
    unit: "",
    digits: 0,
    of: ({ resumed }) => resumed ?? 0,
    means: "Resumed: how often it continued after its supervisor or host died.",
  },
  { head: "tokens", unit: "", quantity: "count", digits: 0, of: ({ tokens }) => tokens },
  {
    head: "dollars",
    unit: "",
    digits: 2,
    of: ({ dollars }) => dollars,
    means: "Dollars: at the prices that each attempt's ledger lists with their sources.",
  },
  {
    head: "public rows",
    ...seconds,
    of: ({ devSeconds }) => devSeconds ?? null,
    means: "Public rows: time of scoring it on them, which the best of k costs beside its attempts.",
  },
  { head: "GPU hours", unit: "", digits: 2, of: ({ gpuHours }) => gpuHours },
  {
    head: "GPU busy",
    ...percent,
    of: ({ gpuBusyHours, gpuHours }) =>
      gpuBusyHours === null || gpuHours === null || gpuHours === 0 ? null : (100 * gpuBusyHours) / gpuHours,
    isShown: () => true, // 0: GPUs that were held and idle
    means: "GPU busy: share of the GPU hours in which the GPUs computed.",
  },
  {
    head: "peak GPU memory",
    unit: "MiB",
    quantity: "mebibytes",
    digits: 0,
    of: ({ gpuMemoryPeakMiB }) => gpuMemoryPeakMiB ?? null,
    means: "Peak GPU memory: the most memory in use on one of the GPUs, polled.",
  },
  {
    head: "unused",
    ...percent,
    of: ({ unusedShare }) => (unusedShare == null ? null : 100 * unusedShare),
    means: "Unused: share of the time budget.",
  },
  {
    head: "first valid",
    ...seconds,
    of: ({ firstValidSeconds }) => firstValidSeconds,
    means: "First valid: time to the first snapshot that can be loaded.",
  },
  {
    head: "gain per hour",
    unit: "",
    digits: 3,
    of: ({ improvementPerHour }) => improvementPerHour,
    means: "Gain per hour: of the main metric of its iterations.",
  },
  {
    head: "since gain",
    ...seconds,
    of: ({ sinceImprovementSeconds }) => sinceImprovementSeconds ?? null,
    means: "Since gain: time from the last improvement of that metric to the end.",
  },
];
