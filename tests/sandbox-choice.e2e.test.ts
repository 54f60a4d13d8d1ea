// What holds an agent's programs is what was asked for, or more, never less: whoever nobody vouched for runs
// behind walls or not at all, unless a person says that it may be otherwise.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/bubblewrap-abilities";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab, outcomes } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = await bubblewrapMissing();
const walls = missing === undefined ? {} : { skip: missing };

/** One attempt by a script that says what it sees of the host. */
function define(at: Lab, trusted: boolean): void {
  at.script("program/agent.sh", 'ls / > "$MLRB_SUBMISSION/root"; id -u > "$MLRB_SUBMISSION/who"\n');
  at.script("prompt.md", "Until {{deadline}}.\n");
  const program = `${at.name}/program`;
  const prompt = `${at.name}/prompt.md`;
  at.define({
    axes: { task: ["empty"], agent: ["looks"], seed: [1] },
    stages: {
      data: { each: ["task"], command: "echo x > {outputs.public}/a", gives: { public: "dir" } },
      attempt: {
        each: ["task", "agent", "seed"],
        script: "pipelines/steps/attempt.ts",
        needs: ["data.public"],
        params: { kind: "command", command: ["sh", "./agent.sh"], program, trusted, prompt },
        files: [`${program}/**`, prompt],
        gives: {
          submission: "dir",
          trajectory: { file: "trajectory.jsonl" },
          ledger: { file: "ledger.json" },
          snapshots: "dir",
        },
        durable: true,
        untrusted: true,
        budget: { time: "60s" },
      },
    },
  });
}

const attempt = "attempt[task=empty,agent=looks,seed=1]";

function seen(at: Lab): { sandbox: string; root: string[]; who: string } {
  const [held, ...others] = recordsIn(at.root);
  assert.deepEqual(others, []);
  const read = (file: string) =>
    readFileSync(join(at.root, ".mlrb/attempts/records", held!.digest, "submission", file), "utf8").trim();
  const { where } = held!.record.ran as { where: { sandbox: string } };
  return { sandbox: where.sandbox, root: read("root").split("\n"), who: read("who") };
}

test(
  "an agent that nobody vouched for runs behind bubblewrap, as nobody, and sees no folder of the host",
  walls,
  async (t) => {
    const at = lab(t, repository);
    define(at, false);
    const said = await at.run();
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const { sandbox, root, who } = seen(at);
    assert.match(sandbox, /^bubblewrap \d/);
    assert.ok(root.includes("attempt") && !root.includes("root") && !root.includes("home"), root.join(" "));
    if (process.getuid?.() === 0) assert.notEqual(who, "0");
  },
);

test("where there are no walls such an agent is not begun, and the way out is told", async (t) => {
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

test("a program that a person vouched for runs as a plain process", async (t) => {
  const at = lab(t, repository);
  define(at, true);
  assert.equal((await at.run()).code, 0);
  assert.equal(seen(at).sandbox, "plain");
});

/** A PATH with Node and nothing of the system's: no bwrap. */
function bare(): string {
  return dirname(process.execPath);
}
