// The agreement of the rules with the hand-labelled set: precision and recall of iterations that count, and Cohen's kappa
// (Cohen 1960) of who is responsible for an attempt's failure and where it happened.
import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import type { Labelled } from "./labelled-trajectory.ts";
import { attemptIterations } from "./story.ts";

export type Agreement = {
  attempts: number;
  iterations: { labelled: number; found: number; right: number; precision: number; recall: number };
  whose: Kappa;
  where: Kappa;
  /** The differences, for a person to read. */
  differ: string[];
};

/** `kappa` is null if chance alone would always agree. */
export type Kappa = { agree: number; of: number; kappa: number | null };

export function agreement(set: Labelled[]): Agreement {
  const differ: string[] = [];
  const pairs = set.map((labelled) => {
    const found = attemptIterations(labelled.events) as Extract<IterationsFile, { kind: "found" }>;
    const whose = found.failure?.whose ?? "none";
    const where = found.failure?.where ?? "none";
    const counted = found.iterations.filter(({ counts }) => counts).map(({ events }) => events);
    const right = matched(labelled.counts, counted);
    if (whose !== labelled.whose || where !== labelled.where)
      differ.push(
        `${labelled.name}: labelled ${labelled.whose}, ${labelled.where}; found ${whose}, ${where}`,
      );
    if (right !== labelled.counts.length || right !== counted.length)
      differ.push(`${labelled.name}: ${labelled.counts.length} iterations labelled, ${counted.length} found`);
    return { labelled, whose, where, found: counted.length, right };
  });
  const sum = (of: (pair: (typeof pairs)[number]) => number) =>
    pairs.reduce((total, pair) => total + of(pair), 0);
  const [labels, found, right] = [
    sum(({ labelled }) => labelled.counts.length),
    sum((pair) => pair.found),
    sum((pair) => pair.right),
  ];
  return {
    attempts: set.length,
    iterations: { labelled: labels, found, right, precision: right / found, recall: right / labels },
    whose: cohensKappa(pairs.map(({ labelled, whose }) => [labelled.whose, whose])),
    where: cohensKappa(pairs.map(({ labelled, where }) => [labelled.where, where])),
    differ,
  };
}

/** The number of labels that are inside a span of their own. */
function matched(labels: number[], spans: [number, number][]): number {
  const free = [...spans];
  return labels.filter((at) => {
    const place = free.findIndex(([from, to]) => from <= at && at <= to);
    if (place >= 0) free.splice(place, 1);
    return place >= 0;
  }).length;
}

/** (observed − expected) / (1 − expected), expected from how often each side uses each word. */
export function cohensKappa(pairs: [string, string][]): Kappa {
  const of = pairs.length;
  const agree = pairs.filter(([one, other]) => one === other).length;
  const share = (word: string, side: 0 | 1) => pairs.filter((pair) => pair[side] === word).length / of;
  const words = new Set(pairs.flat());
  const expected = [...words].reduce((sum, word) => sum + share(word, 0) * share(word, 1), 0);
  return { agree, of, kappa: expected === 1 || of === 0 ? null : (agree / of - expected) / (1 - expected) };
}

/** A table for docs and terminals: one row for each part of the set, and one for all. */
export function agreementText(set: Labelled[]): string {
  const rows = (["tuning", "held-out", "hard", "all"] as const).map((split) => {
    const found = agreement(set.filter((labelled) => split === "all" || labelled.split === split));
    const { iterations, whose, where, attempts } = found;
    const kappa = ({ kappa: value, agree, of }: Kappa) =>
      `${value === null ? "–" : value.toFixed(2)} (${agree}/${of})`;
    const share = (value: number, right: number, of: number) => `${value.toFixed(2)} (${right}/${of})`;
    return `| ${split} | ${attempts} | ${share(iterations.precision, iterations.right, iterations.found)} | ${share(iterations.recall, iterations.right, iterations.labelled)} | ${kappa(whose)} | ${kappa(where)} |`;
  });
  return [
    "| part | trajectories | precision of iterations | recall | κ, whose (agree) | κ, where (agree) |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
