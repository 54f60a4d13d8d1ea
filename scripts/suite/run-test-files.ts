// Runs test files, several at a time, until all have ended or the suite's time is over. Files that did not run
// count as failed, by name; a suite that is killed from outside would print nothing.
import { type FileResult, runTestFile } from "./run-test-file.ts";

export type SuiteOptions = {
  cwd: string;
  env: Record<string, string>;
  concurrency: number;
  fileTimeoutMs(file: string): number;
  /** Ends the suite. The reason is shown for each file that did not finish. */
  signal: AbortSignal;
  onFile: (result: FileResult) => void;
};

/** Results in the order in which files ended. */
export async function runTestFiles(files: readonly string[], options: SuiteOptions): Promise<FileResult[]> {
  const { cwd, env, signal } = options;
  const waiting = [...files];
  const results: FileResult[] = [];
  const keep = (result: FileResult) => {
    results.push(result);
    options.onFile(result);
  };
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (signal.aborted) keep(notRun(file, String(signal.reason)));
      else keep(await runTestFile(file, { cwd, env, timeoutMs: options.fileTimeoutMs(file), signal }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, files.length) }, worker));
  return results;
}

/** More failed files than this are no coincidence, and are not repeated. */
const mostRepeated = 3;

/** Files whose subject is chance: a kill at another moment tells nothing about the one that failed. */
const drawnByTime = /kills|sweep|survive|crash|damage|fuzz|several-runs/;

/**
 * Repeats failed files one at a time, with the same draws (MLRB_TEST_SEED), after all others have ended: a failure
 * that does not repeat there came from the load of the machine. A file that passes keeps its first failures in
 * `passedAlone`, which the summary lists.
 */
export async function repeatAlone(
  results: readonly FileResult[],
  options: Omit<SuiteOptions, "concurrency">,
): Promise<FileResult[]> {
  const failed = results.filter(({ tests }) => tests.some(({ outcome }) => outcome === "failed"));
  if (failed.length > mostRepeated) return [...results];
  const repeated = new Map<string, FileResult>();
  for (const { file, tests } of failed) {
    if (drawnByTime.test(file) || options.signal.aborted) continue;
    const [again] = await runTestFiles([file], { ...options, concurrency: 1 });
    if (again!.tests.every(({ outcome }) => outcome !== "failed"))
      repeated.set(file, { ...again!, passedAlone: tests.filter(({ outcome }) => outcome === "failed") });
  }
  return results.map((result) => repeated.get(result.file) ?? result);
}

function notRun(file: string, reason: string): FileResult {
  const title = `${file}: did not run: ${reason}`;
  return { file, seconds: 0, tests: [{ title, outcome: "failed", reason: "" }], output: "" };
}
