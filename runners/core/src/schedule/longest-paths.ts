// The priority of each instance: the one with the longest path to the end of the run starts first, since the run cannot be
// shorter than that path.

type Step = { needs: number[]; collects: number[]; environment?: number; expectedMs: number };

/**
 * Milliseconds from the start of each instance to the end of the last one that waits for it; for an environment through
 * its users. Every instance must come after its dependencies.
 */
export function longestPaths(steps: readonly Step[]): number[] {
  const after = steps.map(() => 0);
  const paths = steps.map(() => 0);
  for (let index = steps.length - 1; index >= 0; index--) {
    const { needs, collects, environment, expectedMs } = steps[index]!;
    const mine = expectedMs + after[index]!;
    paths[index] = mine;
    for (const other of needs) if (after[other]! < mine) after[other] = mine;
    for (const other of collects) if (after[other]! < mine) after[other] = mine;
    if (environment !== undefined && after[environment]! < mine) after[environment] = mine;
  }
  return paths;
}
