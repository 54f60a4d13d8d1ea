// What mechanical checks measured of an attempt, in neutral words and without a verdict.
import type { Identity } from "@mlrb/formats/judged/identity";
import type { Overlap } from "@mlrb/formats/judged/overlap";

/** `eventsOf`: numbers of the events of a line of the trajectory, from 0. */
export function overlapText(overlap: Overlap, eventsOf: (line: number) => number[]): string {
  const { measure, rows, places, placesMore, unread, unreadMore, downloads } = overlap;
  const shown = ({ kind, place, ngrams, rows }: Overlap["places"][number]) => {
    const events = eventsOf(Number(place) - 1).join(" or ") || "that is not shown";
    // agents choose paths
    const where =
      kind === "trajectory" ? `event ${events}` : `${kind}/${JSON.stringify(place.slice(0, 200))}`;
    return `${where}: ${ngrams} n-grams; ${rows} such rows in this place alone`;
  };
  return `Of ${rows.all} scored rows, ${rows.tested} have n-grams of ${measure.n} words, at least half of which agents are not given.
Of these, ${rows.touched} have any of them in what the attempt held; ${rows.found} have ${Math.round(100 * measure.share)} % of them or more.
${[...places.map(shown), `${placesMore} more places have n-grams.`].join("\n")}
${unread.length + unreadMore} places could not be read.
${downloads.files - downloads.read} of ${downloads.files} downloaded files are not among what was read.`;
}

const relations =
  "place: value by value; part: rows or columns removed or reordered; map: hidden dimension rotated, permuted, padded or cut; rank, near-rank: of lower rank; mixture: of several tensors; equal: up to rounding; zeros: equal or zero";

export function identityText({ tensors, mixtures, known, detail }: Identity): string {
  const related = tensors.filter(({ constant }) => !constant).flatMap((one) => one.relations);
  const groups = Map.groupBy(related, (one) => `${one.model}, by ${one.by}, values ${one.values}`);
  const sums = mixtures.map(({ models, weights }) => `${models}: ${weights.map((one) => one.toFixed(2))}`);
  return [
    `The submission has ${tensors.length} tensors. Their nearest relations to tensors of given models (${relations}):`,
    ...[...groups].map(([relation, { length }]) => `${relation}: ${length} tensors`),
    ...sums.map((sum) => `Weights of the nearest sum of given models: ${sum}`),
    ...known.map(({ model, matches, looked }) => `Like ${model}: ${matches.length} of ${looked} matrices`),
    ...(detail === undefined ? [] : [`Nothing was compared: ${detail}`]),
  ].join("\n");
}
