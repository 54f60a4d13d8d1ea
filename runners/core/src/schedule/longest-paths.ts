// The priority of each instance: the one with the longest path to the end of the run starts first, since the run
// cannot be shorter than that path. Where some have places in an order of starts, that order comes first.

type Step = {
  needs: number[];
  collects: number[];
  environment?: number;
  /** The service that it uses. */
  uses?: number;
  /** They, and all that they wait for, have no place and so come first: they may show that nothing else should start. */
  checks?: number[];
  expectedMs: number;
  /** Its place in an order of starts, from 0. */
  start?: number;
};

/** Longer than any path, so that a place in the order weighs more than any duration. */
const placeMs = 1e10;

/**
 * Where no step has a place in an order: milliseconds from the start of each instance to the end of the last one
 * that waits for it; for an environment through its users. Every instance must come after its dependencies.
 *
 * With an order: instances that no place concerns come first. Then, place by place, the instance of the place with
 * what only it needs, and what judges it before the next place. So a run that ends early has judged what it
 * started.
 */
export function longestPaths(steps: readonly Step[]): number[] {
  const after = steps.map(() => 0);
  for (let index = steps.length - 1; index >= 0; index--) {
    const mine = steps[index]!.expectedMs + after[index]!;
    const { checks = [] } = steps[index]!;
    for (const other of [...before(steps[index]!), ...checks]) if (after[other]! < mine) after[other] = mine;
  }
  const places = placesOf(steps);
  const last = places.reduce<number>((most, place = -1) => Math.max(most, place), -1);
  return steps.map(
    ({ expectedMs }, index) => (last - (places[index] ?? -1)) * placeMs + expectedMs + after[index]!,
  );
}

/**
 * An instance's own place; else the last one that it waits for; else the first one that it is needed for; else the
 * last one of its needs: reference models of a task are made with the task. Checks, and what they wait
 * for, have none.
 */
function placesOf(steps: readonly Step[]): (number | undefined)[] {
  const behind = steps.map(({ start }) => start);
  const ahead = steps.map(({ start }) => start);
  for (const [index, { needs, collects, start }] of steps.entries())
    for (const other of start === undefined ? [...needs, ...collects] : []) {
      const place = behind[other];
      if (place !== undefined && place > (behind[index] ?? -1)) behind[index] = place;
    }
  for (let index = steps.length - 1; index >= 0; index--) {
    const place = ahead[index];
    if (place === undefined) continue;
    for (const other of before(steps[index]!)) if (place < (ahead[other] ?? Infinity)) ahead[other] = place;
  }
  const first = untilChecks(steps);
  const places: (number | undefined)[] = [];
  for (const [index, step] of steps.entries()) {
    const ofNeeds = step.needs.flatMap((other) => places[other] ?? []);
    const last = ofNeeds.length === 0 ? undefined : Math.max(...ofNeeds);
    places.push(first.has(index) ? undefined : (behind[index] ?? ahead[index] ?? last));
  }
  return places;
}

/** All checks, and everything that they wait for. */
function untilChecks(steps: readonly Step[]): Set<number> {
  const found = new Set<number>();
  const left = steps.flatMap(({ checks = [] }) => checks);
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    if (found.has(index)) continue;
    found.add(index);
    left.push(...before(steps[index]!));
  }
  return found;
}

function before({ needs, collects, environment, uses }: Step): number[] {
  if (environment === undefined && uses === undefined) return [...needs, ...collects];
  return [...needs, ...collects, ...[environment, uses].filter((other) => other !== undefined)];
}
