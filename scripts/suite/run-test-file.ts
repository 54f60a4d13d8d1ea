// Runs one test file in its own process group, so that a file that hangs can be killed with its children. The
// output of the tests is shown only when the file fails.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import type { TestLine } from "./event-reporter.ts";

export type FileResult = {
  file: string;
  seconds: number;
  tests: TestLine[];
  /** The file's output without the counts at the end. */
  output: string;
  /** What failed first, next to other files, and passed when the file was repeated alone. */
  passedAlone?: TestLine[];
};

export type FileOptions = {
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  /** Ends the file early. The reason is shown. */
  signal: AbortSignal;
};

const reporter = join(import.meta.dirname, "event-reporter.ts");

/** Always resolves: a crash, a timeout and an abort become a failed test with the file's name. */
export async function runTestFile(file: string, options: FileOptions): Promise<FileResult> {
  const begin = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "mlrb-suite-"));
  try {
    const events = join(folder, "events");
    const { ending, output } = await runProcess(file, events, options);
    const tests = readEvents(events);
    const failed = tests.some(({ outcome }) => outcome === "failed");
    if (ending !== undefined && !(failed && ending === "exit 1"))
      tests.push({ title: `${file}: ${ending}`, outcome: "failed", reason: "" });
    if (tests.length === 0) tests.push({ title: `${file}: has no test`, outcome: "failed", reason: "" });
    const text = output.replace(/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm, "");
    return { file, seconds: (performance.now() - begin) / 1000, tests, output: text };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `ending` is undefined when the process exited with status 0. */
function runProcess(
  file: string,
  events: string,
  { cwd, env, timeoutMs, signal }: FileOptions,
): Promise<{ ending: string | undefined; output: string }> {
  const reporters = [
    ...["--test-reporter", reporter, "--test-reporter-destination", events],
    ...["--test-reporter", "spec", "--test-reporter-destination", "stdout"],
  ];
  // a failed test may leave a server open, which would keep the file running
  const flags = [...nodeFlags, "--test-force-exit", ...reporters];
  const child = spawn(process.execPath, [...flags, file], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  let killedBecause: string | undefined;
  const kill = (because: string) => {
    if (killedBecause === undefined) {
      output += stillRunning(child.pid!);
      killedBecause = because;
    }
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // the group has just ended
    }
  };
  const timer = setTimeout(() => kill(`ended after ${Math.round(timeoutMs / 1000)} s: timeout`), timeoutMs);
  const onAbort = () => kill(String(signal.reason));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  return new Promise((resolve) => {
    let ending: string | undefined;
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ending: killedBecause ?? ending, output });
    };
    child.once("error", (error) => {
      ending = error.message;
      done();
    });
    child.once("exit", (code, by) => {
      ending = code === 0 ? undefined : by ? `ended by ${by}` : `exit ${code}`;
      setTimeout(done, 1000).unref(); // a process that outlives the tests may hold stdout open
    });
    child.once("close", done);
  });
}

/** The processes of the session of `leader`, each with its state and kernel wait channel. */
function stillRunning(leader: number): string {
  const columns = "pid,ppid,stat,wchan:24,etimes,args";
  const { stdout } = spawnSync("ps", ["-ww", "-o", columns, "-s", String(leader)], { encoding: "utf8" });
  return stdout ? `still ran:\n${stdout}` : "";
}

/** Reads the events. A killed process may leave half a line at the end. */
function readEvents(path: string): TestLine[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TestLine);
}
