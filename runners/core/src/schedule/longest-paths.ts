// The priority of each instance: the one with the longest path to the end of the run starts first, since the run cannot be
// shorter than that path. Instances with a place in a start order come before all that has none, with what they need.

type Step = {
  needs: number[];
  collects: number[];
  environment?: number;
  expectedMs: number;
  /** Its place in an order of starts, from 0. */
  start?: number;
};

/** Longer than any path, so that a place in the order weighs more than any duration. */
const placeMs = 1e10;

/**
 * Where no step has a place in an order: milliseconds from the start of each instance to the end of the last one that waits for it; for an environment through
 * its users. Every instance must come after its dependencies.
 */
export function longestPaths(steps: readonly Step[]): number[] {
  const after = steps.map(() => 0);
  const paths = steps.map(() => 0);
  const places = steps.reduce((most, { start = -1 }) => Math.max(most, start + 1), 0);
  for (let index = steps.length - 1; index >= 0; index--) {
    const { needs, collects, environment, expectedMs, start } = steps[index]!;
    // what needs or feeds several places has that of the first
    const place = start === undefined ? 0 : (places - start) * placeMs;
    const mine = Math.max(expectedMs + after[index]!, place + expectedMs + (after[index]! % placeMs));
    paths[index] = mine;
    for (const other of needs) if (after[other]! < mine) after[other] = mine;
    for (const other of collects) if (after[other]! < mine) after[other] = mine;
    if (environment !== undefined && after[environment]! < mine) after[environment] = mine;
  }
  return paths;
}
