// What every sandbox with walls must hold, tried from inside by programs that mean harm. Runs against any
// maker of sandboxes: the maker is a module with an `open`, so that a supervisor that is to be killed can
// import it too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isRunning, until } from "./processes.ts";
import { checkFiles } from "./sandbox-files.ts";
import { type Check, lab, type SandboxMaker } from "./sandbox-lab.ts";
import { checkLimits } from "./sandbox-limits.ts";
import { checkPrograms } from "./sandbox-programs.ts";
import { checkSight } from "./sandbox-sight.ts";

export type SuiteOptions = {
  /** For the titles, e.g. `bubblewrap`. */
  name: string;
  /** The file of a module that exports what `SandboxMaker` declares. */
  maker: string;
  /** Why nothing of it can run here. */
  skip?: string | undefined;
  /** Where inside a network that is open the host's own loopback is reached; undefined where it is not. */
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
