// The suite of every sandbox: hostile programs inside try to break out. It runs against any maker of sandboxes. A
// maker is a module with `open`, so that supervisors that a test kills can import it too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isRunning, until } from "../processes.ts";
import { checkFiles } from "./sandbox-files.ts";
import { type Check, lab, type SandboxMaker } from "./sandbox-lab.ts";
import { checkLimits } from "./sandbox-limits.ts";
import { checkPrograms } from "./sandbox-programs.ts";
import { checkSight } from "./sandbox-sight.ts";

export type SuiteOptions = {
  /** For the titles, e.g. `bubblewrap`. */
  name: string;
  /** The file of a module that exports a `SandboxMaker`. */
  maker: string;
  /** The reason to skip the suite. */
  skip?: string | undefined;
  /** Whether an open network reaches the host's loopback. */
  hostLoopback?: boolean;
};

export function sandboxSuite({ name, maker, skip, hostLoopback = true }: SuiteOptions): void {
  const options = { timeout: 90_000, ...(skip !== undefined && { skip }) };
  const check: Check = (title, body, changes = {}) =>
    void test(`${name}: ${title}`, options, async (t) => body(await lab(t, maker, changes)));
  checkSight(check, { hostLoopback });
  checkLimits(check);
  checkPrograms(check);
  checkFiles(check);

  test(`${name}: after kill -9 of the supervisor no process of the sandbox is left`, options, async (t) => {
    const at = await lab(t, maker, { closed: true });
    const { sweep } = (await import(maker)) as SandboxMaker;
    for (const program of ["ignoresSignals", "escapes"] as const) {
      const supervisor = at.supervised(program);
      await until(
        "its programs",
        () => at.alive().length >= (program === "escapes" ? 3 : 1) || supervisor.exitCode !== null,
      );
      assert.equal(supervisor.exitCode, null);
      supervisor.kill("SIGKILL");
      await until("the supervisor's end", () => !isRunning(supervisor.pid!));
      await sweep?.(at.token);
      await until("the programs' end", () => at.alive().length === 0, 10_000);
    }
  });

  test(
    `${name}: after kill -9 of a supervisor that had frozen it no process of the sandbox is left`,
    options,
    async (t) => {
      const at = await lab(t, maker, { closed: true });
      const { sweep } = (await import(maker)) as SandboxMaker;
      const supervisor = at.supervised("counts", { freezes: true });
      let said = "";
      supervisor.stdout!.on("data", (text) => {
        said += text;
      });
      await until("it to freeze", () => said.includes("frozen") || supervisor.exitCode !== null);
      assert.deepEqual([supervisor.exitCode, at.alive().length], [null, 1]);
      supervisor.kill("SIGKILL");
      await until("the supervisor's end", () => !isRunning(supervisor.pid!));
      await sweep?.(at.token);
      await until("the program's end", () => at.alive().length === 0, 10_000);
    },
  );
}
