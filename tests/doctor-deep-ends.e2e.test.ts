// How deep checks end that hang, are interrupted, or cannot start, through the program, with checks of the test's own.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { hostChecks } from "../runners/cli/src/deep/deep-checks.ts";
import { counted, type Lab, lab, leftovers } from "./support/lab.ts";
import { isRunning, pidsIn, until } from "./support/processes.ts";
import type { ProgramOutput } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

type Checks = Record<string, { command: string; limits?: object; resources?: object }>;

/** A pipeline that needs nothing, and checks that extend it. */
function define(at: Lab, checks: Checks): void {
  at.define({
    axes: { of: ["host"] },
    profiles: { quick: { default: true } },
    stages: { work: { each: ["of"], command: "true" } },
  });
  const declared = Object.entries(checks).map(([name, check]) => [
    name,
    { role: "host-check", each: ["of"], ...check, gives: { check: { file: "check.json" } } },
  ]);
  const pipeline = {
    formatVersion: 1,
    name: "deep-checks",
    extends: at.name,
    stages: Object.fromEntries(declared),
  };
  repository.write("pipelines/deep-checks.yaml", JSON.stringify(pipeline));
}

const passes = `printf '{"formatVersion": 1, "found": "it works"}' > '{outputs.check}'`;
const argsOf = (at: Lab) => ["doctor", at.name, "--deep", "--json", "--root", at.root];

function checksOf(said: ProgramOutput) {
  const lines = said.lines.filter(({ event }) => event === "deep-check");
  return lines.map(({ name, kind, cause, found }) => [name.split("[")[0], kind, cause ?? found]);
}

test("a check that hangs fails at its limit, one that needs more GPUs does not start, and others pass again", async (t) => {
  const at = lab(t, repository);
  define(at, {
    good: { command: counted(at, "good", passes) },
    hangs: { command: "sleep 600", limits: { time: "1s" } },
    breaks: { command: "echo 'no driver; install it' >&2; exit 3" },
    big: { command: passes, resources: { gpus: 9000 } },
  });
  const said = await at.pipeline(argsOf(at));
  assert.equal(said.code, 1, said.stderr);
  const [big, ...others] = checksOf(said).sort();
  assert.match(big!.join(), /^big,failed,needs 9000 GPUs, this host has \d+/);
  assert.deepEqual(others, [
    ["breaks", "failed", "no driver; install it (exit-code: exit status 3)"],
    ["good", "passed", "it works"],
    [
      "hangs",
      "failed",
      "mlrb: did not end within 1.0 s (limits.time) and was ended (time-limit: did not end within 1.0 s)",
    ],
  ]);
  const again = await at.pipeline(argsOf(at));
  assert.equal(again.code, 1);
  assert.deepEqual(at.executions(), { good: 2 }, "each call repeats the checks");
  const shown = await at.pipeline(["doctor", at.name, "--deep", "--root", at.root]);
  assert.match(shown.stdout, /\ndeep checks\n(.*\n)* {2}✔ good\[of=host\] .* it works\n/);
  assert.match(shown.stdout, / {2}3 of 4 failed; repair, then repeat\n$/);
});

test("an interrupted check ends with the command, and leaves no process and no folder", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  define(at, { hangs: { command: `echo $$ > '${pids}'; sleep 600` } });
  const started = at.start(argsOf(at));
  await until("the check", () => pidsIn(pids).length > 0);
  started.child.kill("SIGINT");
  const said = await started.ended;
  assert.equal(said.code, 130, said.stderr);
  assert.deepEqual(checksOf(said), [["hangs", "failed", "the checks were ended before it"]]);
  assert.deepEqual(leftovers(at), []);
  assert.ok(!pidsIn(pids).some(isRunning));
});

test("checks that run when the time of all checks is over are ended and failed", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  define(at, { good: { command: passes }, hangs: { command: `echo $$ > '${pids}'; sleep 600` } });
  const options = { set: [], root: at.root, json: true, weakLimits: false, pipeline: at.name, limitMs: 3000 };
  const ended = await hostChecks(repository.path, options);
  assert.equal(ended?.interrupted, false);
  assert.deepEqual(
    ended?.checks.map((check) => [check.kind, check.kind === "failed" ? check.cause : check.found]),
    [
      ["passed", "it works"],
      ["failed", "it did not end within 15 minutes of all checks"],
    ],
  );
  assert.ok(!pidsIn(pids).some(isRunning));
});
