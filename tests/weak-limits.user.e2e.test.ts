// A profile with `weakLimits: true`, as an ordinary user without a control group for memory. As root, the tests
// run their command lines as user 65534.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab, outcomes } from "./support/lab.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const asRoot = process.getuid?.() === 0;
const [uid, gid] = asRoot ? [65_534, 65_534] : [process.getuid!(), process.getgid!()];
const user = asRoot ? ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"] : [];
const attempt = "attempt[task=empty,agent=tries,seed=1]";

/** Why this user cannot show a weak limit here; false if they can. */
function whyNot(): string | false {
  chmodSync(dirname(repository.path), 0o755);
  const [program, ...rest] = [...user, process.execPath, "pipelines/steps/attempt.ts", "--help"];
  const starts = spawnSync(program!, rest, { cwd: repository.path, encoding: "utf8" });
  if (/EACCES|setpriv/.test(String(starts.error) + starts.stderr))
    return `user ${uid} cannot read this checkout, or has no setpriv`;
  const code =
    'import { mayLimitMemory } from "@mlrb/kit/processes/control-groups"; import { bubblewrapMissing } from ' +
    '"@mlrb/agents/sandbox/bubblewrap-abilities"; console.log(JSON.stringify([await mayLimitMemory(), await bubblewrapMissing() ?? ""]))';
  const [node, ...flags] = [...user, process.execPath, "--input-type=module", "--eval", code];
  const { stdout } = spawnSync(node!, flags, { cwd: join(repository.path, "runners/cli"), encoding: "utf8" });
  const [limitsMemory, missing] = JSON.parse(stdout) as [boolean, string];
  if (limitsMemory) return "this user may make a control group for memory";
  return missing !== "" && missing;
}

const skip = whyNot();

function define(at: Lab, settings: Record<string, unknown>): void {
  defineAttempts(at, {
    script: 'echo 7 > "$MLRB_SUBMISSION/value"',
    profiles: { plain: { default: true }, chosen: settings },
    stages: {
      gather: {
        collect: ["attempt.ledger"],
        command: "cp {inputs.manifest} {outputs.manifest}",
        gives: { manifest: "file" },
      },
    },
  });
  for (const folder of [dirname(at.root), at.root, at.outside]) {
    mkdirSync(folder, { recursive: true });
    chownSync(folder, uid, gid);
  }
}

/** Runs a command line as the user. */
async function runs(at: Lab, ...args: string[]) {
  const through = { through: user, env: { HOME: at.outside, TMPDIR: at.outside } };
  return await startProgram(repository.path, [...args, "--root", at.root], through).ended;
}

const first = { skip, timeout: 120_000 };

test(
  "weakLimits: true in the profile lets an untrusted agent run, and plan and explain say so",
  first,
  async (t) => {
    const at = lab(t, repository);
    define(at, { weakLimits: true });
    const refused = await runs(at, "run", at.name, "--json");
    assert.equal(outcomes(refused)[attempt], "failed");
    assert.match(refused.stdout, /weakLimits: true/, "the message names the setting");
    const chosen = ["--profile", "chosen"];
    const planned = await runs(at, "plan", at.name, ...chosen);
    assert.match(planned.stdout, /^weak limits: profile chosen lets untrusted agents run/m);
    const explained = await runs(at, "explain", attempt, "--pipeline", at.name, ...chosen);
    assert.match(explained.stdout, /^ {2}weak limits: profile chosen/m);
    const ran = await runs(at, "run", at.name, "--json", ...chosen);
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    assert.equal(outcomes(ran)[attempt], "succeeded");

    const [held] = recordsIn(at.root);
    const { where } = held!.record.ran as { where: Record<string, string> };
    assert.deepEqual([where.memoryLimit, where.diskLimit], ["polled", "polled"]);
    const shown = await runs(at, "attempts", "show", held!.digest.slice(0, 12));
    assert.match(shown.stdout, /^weak limits: memory limit only polled, disk limit only polled$/m);
    const [member] = manifest(at).members;
    assert.deepEqual(member.weakLimits, ["memory", "disk"]);

    const again = await runs(at, "run", at.name, "--json");
    assert.equal(outcomes(again)[attempt], "reused", "no key has the setting");
  },
);

/** The manifest that the collecting stage kept. */
function manifest(at: Lab) {
  const blobs = join(at.root, ".mlrb/cache/blobs");
  const files = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map((one) => readFileSync(join(one.parentPath, one.name), "latin1"));
  return JSON.parse(texts.find((text) => text.includes('"weakLimits"'))!);
}
