// On a machine without namespaces, bubblewrap and containers, the scripted agents are still scored, under limits
// alone. Other files of strangers are refused.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { type Lab, lab, outcomes } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const ids = "[task=empty,agent=writes,seed=1]";

function define(at: Lab, trusted: boolean): void {
  defineAttempts(at, {
    script: 'echo 7 > "$MLRB_SUBMISSION/value"',
    agent: "writes",
    trusted,
    stages: {
      score: {
        each: ["task", "agent", "seed"],
        needs: ["attempt.submission"],
        opens: "untrusted",
        command: "read value < {inputs.submission}/value && echo $value $(ulimit -c) > {outputs.score}",
        gives: { score: "file" },
        limits: { memory: "256MiB" },
      },
    },
  });
}

/** Runs with a shell and Node, and without Python, unshare, bwrap and docker. */
async function runBare(at: Lab, ...more: string[]) {
  const programs = join(at.root, "programs");
  mkdirSync(programs, { recursive: true });
  for (const name of ["sh", "cat", "ls"]) {
    try {
      symlinkSync(realpathSync(join("/bin", name)), join(programs, name));
    } catch {
      // made by an earlier call
    }
  }
  const env = { PATH: `${programs}:${dirname(process.execPath)}` };
  return await at.pipeline(["run", at.name, "--json", "--root", at.root, ...more], { env });
}

/** The text of all recorded actions. */
function actions(at: Lab): string {
  const folder = join(at.root, ".mlrb/cache/actions");
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

test("the submission of a trusted program is scored under weak limits, and its action says so", async (t) => {
  const at = lab(t, repository);
  define(at, true);
  const said = await runBare(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(outcomes(said)[`score${ids}`], "succeeded");
  assert.match(actions(at), /weak limits/);
  const log = await at.pipeline(["log", `score${ids}`, "--root", at.root]);
  assert.match(log.stdout, /weak limits: .* no walls can be built here/);
});

test("with walls the same action has no such mark", async (t) => {
  const at = lab(t, repository);
  define(at, true);
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.doesNotMatch(actions(at), /weak limits/);
});

test("an untrusted program's submission is scored under weak limits only after its attempt was recorded", async (t) => {
  const at = lab(t, repository);
  define(at, false);
  const first = await at.run("--only", "attempt");
  if (first.code !== 0) return t.skip("there is no sandbox for the attempt here");
  const said = await runBare(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(outcomes(said)[`attempt${ids}`], "reused");
  assert.match(actions(at), /weak limits/);
});
