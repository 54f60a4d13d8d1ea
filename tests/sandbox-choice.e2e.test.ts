// An agent runs in the requested sandbox or a stricter one, never in a weaker one: untrusted agents run in a
// sandbox or are refused, unless a person allows otherwise.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab, outcomes } from "./support/lab.ts";
import { smallDisk } from "./support/machines/small-disk.ts";
import { attemptProcesses, stepsIn, until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await bubblewrapMissing();
const walls = missing === undefined ? {} : { skip: missing };

/** Prints what it sees of the host. */
const looks = 'ls / > "$MLRB_SUBMISSION/root"; id -u > "$MLRB_SUBMISSION/who"';

/** One attempt by a shell script. */
function define(at: Lab, trusted: boolean, script = looks): void {
  defineAttempts(at, { script, trusted, agent: "looks" });
}

const attempt = "attempt[task=empty,agent=looks,seed=1]";

function seen(at: Lab) {
  const [held, ...others] = recordsIn(at.root);
  assert.deepEqual(others, []);
  const read = (file: string) =>
    readFileSync(join(at.root, ".mlrb/attempts/records", held!.digest, "submission", file), "utf8").trim();
  const { where } = held!.record.ran as { where: Record<string, string> };
  return {
    sandbox: where.sandbox!,
    limits: [where.diskLimit, where.memoryLimit],
    root: read("root").split("\n"),
    who: read("who"),
  };
}

test(
  "an untrusted agent runs behind bubblewrap, as an unprivileged user, and sees no folder of the host",
  walls,
  async (t) => {
    const at = lab(t, repository);
    define(at, false);
    const said = await at.run("--weak-limits");
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const { sandbox, limits, root, who } = seen(at);
    assert.match(sandbox, /^bubblewrap \d/);
    for (const limit of limits) assert.match(limit!, /^(kernel|polled)$/);
    assert.ok(root.includes("attempt") && !root.includes("root") && !root.includes("home"), root.join(" "));
    if (process.getuid?.() === 0) assert.notEqual(who, "0");
  },
);

test("without walls such an agent is not started, and the message names the fix", async (t) => {
  const at = lab(t, repository);
  define(at, false);
  const said = await at.pipeline(["run", at.name, "--json", "--root", at.root], { env: { PATH: bare() } });
  assert.equal(said.code, 1, said.stdout);
  assert.equal(outcomes(said)[attempt], "failed");
  assert.match(said.stdout + said.stderr, /no sandbox to run it in: bubblewrap cannot be used here/);
  assert.deepEqual(recordsIn(at.root), []);
});

test("--unsafe-local lets it run as a plain process, and its record says so", async (t) => {
  const at = lab(t, repository);
  define(at, false);
  const said = await at.run("--unsafe-local");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(seen(at).sandbox, "plain");
});

test("a trusted program runs as a plain process", async (t) => {
  const at = lab(t, repository);
  define(at, true);
  assert.equal((await at.run()).code, 0);
  assert.equal(seen(at).sandbox, "plain");
});

/** A PATH with Node and nothing of the system's: no bwrap. */
function bare(): string {
  return dirname(process.execPath);
}

test("an agent that fills the disk is ended before the disk is full, and is responsible itself", {
  ...walls,
  timeout: 120_000,
}, async (t) => {
  const at = smallDisk(t, repository, "120m,mode=755");
  if (!at) return;
  define(
    at,
    false,
    'echo half > "$MLRB_SUBMISSION/half"; while :; do head -c 20000000 /dev/zero > "$HOME/$((n=n+1))"; done',
  );
  const said = await at.run("--weak-limits");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const [held] = recordsIn(at.root);
  const folder = join(at.root, ".mlrb/attempts/records", held!.digest);
  const ledger = JSON.parse(readFileSync(join(folder, "ledger.json"), "utf8"));
  assert.equal(ledger.ended, "agent-error");
  assert.equal(ledger.over.limit, "disk");
  assert.equal(readFileSync(join(folder, "submission/half"), "utf8"), "half\n");
});

for (const [who, victims] of [
  ["its supervisor, its step and its run", attemptProcesses],
  ["its step", stepsIn],
] as const)
  test(`after kill -9 of ${who} an untrusted attempt's files are in an ordinary folder`, {
    ...walls,
    timeout: 120_000,
  }, async (t) => {
    const at = lab(t, repository);
    define(at, false, 'echo kept > "$HOME/kept"; sleep 60');
    const run = at.start(["run", at.name, "--json", "--root", at.root, "--weak-limits"]);
    const kept = (state: string) =>
      globSync(join(at.root, `.mlrb/attempts/${state}/*/attempt-*/sandbox-*/home/kept`));
    await until("the file", () => kept("running").length === 1);
    if (victims === attemptProcesses) {
      run.child.kill("SIGKILL");
      await run.ended;
    }
    for (const pid of victims(at.root)) end(pid);
    await until("all of it to end", () => attemptProcesses(at.root).length === 0);
    if (victims === stepsIn) await run.ended;
    else assert.equal((await at.run("--only", "data")).code, 0);
    assert.deepEqual(mountsBelow(at.root), []);
    const [file, ...others] = kept("lost");
    assert.deepEqual(others, []);
    assert.equal(readFileSync(file!, "utf8"), "kept\n");
    assert.deepEqual(globSync(join(at.root, ".mlrb/attempts/**/*.ext4")), []);
  });

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended with another one
  }
}

function mountsBelow(root: string): string[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return mounts.map((line) => line.split(" ")[1] ?? "").filter((at) => at.startsWith(`${root}/`));
}
