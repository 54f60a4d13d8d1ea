// One number for a task, an agent and a metric. Intention to treat: an attempt that fails through the
// agent's doing counts as the task's floor, so that dropping failures cannot raise a mean; one that fails
// through ours is missing, and too many missing leave no interval.
import { mean } from "@mlrb/core/statistics/mean";
import { meanInterval } from "@mlrb/core/statistics/mean-interval";
import type { Floor } from "./floor-of.ts";
import type { Attempt, Cell, Metric } from "./report.ts";

const missingShareMax = 0.2;

type Counting =
  | { kind: "value"; value: number }
  | { kind: "floor"; because: "struck" | "rejected" }
  | { kind: "missing"; cause: string };

/** How an attempt enters the mean of one metric. */
export function counting(attempt: Attempt, metric: string): Counting {
  const score = attempt.scores[metric]!;
  if (attempt.verdict.kind === "struck") return { kind: "floor", because: "struck" };
  if (attempt.verdict.kind === "rejected" || score.kind === "rejected") {
    return { kind: "floor", because: "rejected" };
  }
  if (attempt.verdict.kind === "missing") return { kind: "missing", cause: attempt.verdict.cause };
  if (score.kind === "not-measured") return { kind: "missing", cause: score.cause };
  return { kind: "value", value: score.value };
}

/** The cell of `attempts`: all planned ones of one task and agent, in order of their seeds. */
export function cell(
  attempts: Attempt[],
  { metric, primary, floor }: { metric: Metric; primary: boolean; floor: Floor },
): Cell {
  const { task, agent } = attempts[0]!;
  const ways = attempts.map((attempt) => counting(attempt, metric.name));
  const count = (because: string) =>
    ways.filter((way) => way.kind === "floor" && way.because === because).length;
  const valid = ways.flatMap((way) => (way.kind === "value" ? [way.value] : []));
  const counted = ways.map((way) =>
    way.kind === "value" ? way.value : way.kind === "floor" && floor.kind === "known" ? floor.value : null,
  );
  const planned = attempts.length;
  const failed = ways.filter((way) => way.kind === "floor").length;
  const measured = valid.length + failed;
  const notes: string[] = [];

  const [mean, interval] = summary();
  const causes = new Set(ways.flatMap((way) => (way.kind === "missing" ? [way.cause] : [])));
  for (const cause of causes) notes.push(`not measured: ${cause}`);
  for (const { seed, note } of attempts) if (note !== "") notes.push(`seed ${seed}: ${note}`);
  if (floor.kind === "unavailable") notes.push(floor.why);
  const twins = equalSubmissions(attempts.filter((_, index) => ways[index]!.kind === "value"));
  if (twins) notes.push(twins);
  return {
    task,
    agent,
    metric: metric.name,
    primary,
    direction: metric.direction,
    unit: metric.unit,
    seeds: attempts.map((attempt) => attempt.seed),
    values: attempts.map(({ scores }) => {
      const score = scores[metric.name]!;
      return score.kind === "scored" ? score.value : null;
    }),
    counted,
    mean,
    interval,
    measured,
    planned,
    struck: count("struck"),
    rejected: count("rejected"),
    validMean: average(valid),
    validN: valid.length,
    floor: floor.kind === "known" ? floor.value : null,
    floorName: floor.kind === "known" ? floor.name : null,
    notes,
  };

  function summary(): [number | null, [number, number] | null] {
    if (measured === 0) return [null, null];
    if (failed > 0 && floor.kind === "unavailable") {
      notes.push(`no mean: ${attemptsText(failed)} would count as the floor, which is not known`);
      return [null, null];
    }
    const numbers = counted.filter((value) => value !== null);
    const centre = average(numbers);
    if (centre === null) notes.push("no mean: the values are too large");
    if (measured === 1) notes.push("no interval: one attempt says nothing of the spread");
    else if (planned - measured > missingShareMax * planned) {
      notes.push(`no interval: ${planned - measured} of ${planned} attempts are missing, over 20 %`);
    } else if (valid.length === 0) notes.push("no interval: every attempt counts as the floor");
    else return [centre, (centre !== null && meanInterval(numbers)) || null];
    return [centre, null];
  }
}

function average(values: number[]): number | null {
  return mean(values) ?? null;
}

/** Seeds whose submissions are equal byte for byte did not vary; their interval would look too sure. */
function equalSubmissions(attempts: Attempt[]): string | undefined {
  const bySubmission = Map.groupBy(
    attempts.filter((attempt) => attempt.submission !== null),
    (attempt) => attempt.submission,
  );
  const twins = [...bySubmission.values()].filter((equal) => equal.length > 1);
  if (twins.length === 0) return undefined;
  const seeds = twins.map((equal) => equal.map((attempt) => attempt.seed).join(", ")).join("; ");
  return `seeds ${seeds} handed in equal submissions: their spread is not that of new attempts`;
}

function attemptsText(count: number): string {
  return count === 1 ? "1 attempt" : `${count} attempts`;
}
