// A whole run whose stages are jobs of a real Slurm, of two nodes on loopback: its results equal this host's.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { type Lab, lab, leftovers, outcomes, results } from "./support/lab.ts";
import { type SlurmCluster, slurmCluster } from "./support/machines/slurm-cluster.ts";
import { until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
let cluster: SlurmCluster;
let why: string | false = false;
before(async () => {
  const started = await slurmCluster({ cpus: 2 });
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(async () => {
  await cluster?.stop();
  repository.remove();
});

/** A test that skips, with a reason, if there is no Slurm. */
function it(title: string, body: (at: Lab) => Promise<void>): void {
  test(title, { timeout: 300_000 }, async (t: TestContext) => {
    if (why !== false) return t.skip(why);
    await body(lab(t, repository));
    await until("the end of all jobs", () => cluster.jobs().length === 0);
  });
}

const run = (at: Lab, ...more: string[]) => start(at, ...more).ended;
const start = (at: Lab, ...more: string[]) =>
  at.start(["run", at.name, "--json", "--root", at.root, ...more], { env: cluster.env });

it("stages as jobs give the same bytes under the same keys: a run on this host reuses them all", async (at) => {
  at.define({
    axes: { word: ["alpha", "beta"] },
    profiles: { here: { default: true }, there: { executor: "slurm", slurm: { partition: "low" } } },
    stages: {
      source: { command: "echo source > {outputs.text}", gives: { text: "file" } },
      both: {
        each: ["word"],
        needs: ["source.text"],
        command: "cat {inputs.text} > {outputs.text}; echo {word} >> {outputs.text}",
        gives: { text: "file" },
        network: "none",
      },
      gather: {
        collect: ["both.text"],
        command: '(cat {inputs.manifest}; cat "$(dirname {inputs.manifest})"/members/*/text) > {outputs.all}',
        gives: { all: "file" },
      },
    },
  });
  const there = await run(at, "--profile", "there");
  assert.equal(there.code, 0, there.stdout + there.stderr);
  const made = results(at);
  const here = await run(at);
  assert.deepEqual(new Set(Object.values(outcomes(here))), new Set(["reused"]));
  assert.deepEqual(published(results(at)), published(made));
  assert.deepEqual(leftovers(at), []);
});

/** The bytes that a run published, under whatever profile. */
function published(files: Record<string, string>): string[] {
  return [...new Set(Object.entries(files).flatMap(([path, text]) => (path.endsWith("/all") ? [text] : [])))];
}
