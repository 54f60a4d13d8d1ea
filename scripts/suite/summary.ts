// The summary of a suite run: the slowest files, each skip with its reason, each failure, and the counts.
import type { TestLine } from "./event-reporter.ts";
import type { FileResult } from "./run-test-file.ts";

const slowestShown = 20;

export type Counts = { passed: number; failed: number; skipped: number };

export function countTests(results: readonly FileResult[]): Counts {
  const count = (outcome: string) =>
    results.flatMap(({ tests }) => tests).filter((test) => test.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

export function fileLine({ file, seconds, tests, output }: FileResult): string {
  const { passed, failed, skipped } = countTests([{ file, seconds, tests, output }]);
  const counts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`];
  const line = `${failed > 0 ? "✖" : "✔"} ${file} (${seconds.toFixed(1)} s, ${counts.filter(Boolean).join(", ")})`;
  return failed > 0 ? `${line}\n${output.trimEnd()}` : line;
}

export function summary(results: readonly FileResult[]): string {
  const named = (file: string, tests: readonly TestLine[]) =>
    tests.map(({ title, reason }) => folded(`${file}: ${title}${reason && ` # ${reason}`}`));
  const listed = (outcome: string) =>
    results.flatMap(({ file, tests }) =>
      named(
        file,
        tests.filter((test) => test.outcome === outcome),
      ),
    );
  const unstable = results.flatMap(({ file, passedAlone = [] }) => named(file, passedAlone));
  const slowest = results
    .toSorted((left, right) => right.seconds - left.seconds)
    .slice(0, slowestShown)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}`);
  const part = (heading: string, lines: string[]) => (lines.length > 0 ? ["", heading, ...lines] : []);
  return [
    ...part(`The ${slowest.length} slowest files:`, slowest),
    ...part("Skipped:", listed("skipped")),
    ...part("Failed next to other files, passed alone (the load of the machine; to be repaired):", unstable),
    ...part("Failed:", listed("failed")),
  ].join("\n");
}

/** Folded into lines of at most 400 characters: CI's own log cuts longer ones. */
function folded(text: string): string {
  return (text.match(/.{1,400}/gu) ?? [])
    .map((part, line) => `${line > 0 ? "      " : "  "}${part}`)
    .join("\n");
}

/** The last line of a run. */
export function countsLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
