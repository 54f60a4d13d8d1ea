// `pipeline status` during real runs: what it counts, what it shows of a running run, and that it changes
// nothing.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { filesBelow, type Lab, lab, summary } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import type { Line, ProgramOutput } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const status = (at: Lab, ...args: string[]) =>
  at.pipeline(["status", at.name, "--json", "--root", at.root, ...args]);

const lines = (said: ProgramOutput, event: string): Line[] =>
  said.lines.filter((line) => line.event === event);

/** By stage, only states with at least one instance. */
function counts(said: ProgramOutput): Record<string, Record<string, number>> {
  assert.equal(said.code, 0, said.stderr);
  return Object.fromEntries(
    lines(said, "stage-status").map(({ name, states }) => [
      name,
      Object.fromEntries(Object.entries(states as Record<string, number>).filter(([, count]) => count > 0)),
    ]),
  );
}

/** Two words; beta fails as long as there is no file `good`. */
function words(at: Lab, make = "printf %s {word} > {outputs.text}"): void {
  at.define({
    axes: { word: ["alpha", "beta"] },
    stages: {
      make: { each: ["word"], command: make, gives: { text: "file" } },
      size: {
        each: ["word"],
        needs: ["make.text"],
        command: `test {word} = alpha -o -e '${at.outside}/good' && wc -c < {inputs.text} > {outputs.count}`,
        gives: { count: "file" },
      },
      gather: {
        collect: ["size.count"],
        command: "cat {inputs.manifest} > {outputs.all}",
        gives: { all: "file" },
      },
    },
  });
}

test("status follows a pipeline from never run over failed and stale to up to date", async (t) => {
  const at = lab(t, repository);
  words(at);
  assert.deepEqual(counts(await status(at)), {
    make: { neverRun: 2 },
    size: { neverRun: 2 },
    gather: { neverRun: 1 },
  });
  assert.equal((await at.run()).code, 1);
  const failed = await status(at);
  assert.deepEqual(counts(failed), {
    make: { upToDate: 2 },
    size: { upToDate: 1, failed: 1 },
    gather: { uncertain: 1 },
  });
  const [one, ...others] = lines(failed, "failed");
  assert.deepEqual(others, []);
  assert.equal(one!.stage, "size[word=beta]");
  assert.match(one!.cause, /^exit-code: /);
  assert.equal(summary(failed).next[0].command, `pnpm pipeline log 'size[word=beta]' --root ${at.root}`);

  writeFileSync(join(at.outside, "good"), "");
  assert.equal((await at.run()).code, 0);
  const done = await status(at);
  assert.deepEqual(counts(done), { make: { upToDate: 2 }, size: { upToDate: 2 }, gather: { upToDate: 1 } });
  assert.deepEqual(lines(done, "failed"), [], "what failed before and succeeded since is no news");
  assert.match(summary(done).next[0].command, /^pnpm pipeline report /);

  words(at, "printf %s%s {word} {word} > {outputs.text}");
  assert.deepEqual(counts(await status(at)), {
    make: { stale: 2 },
    size: { uncertain: 2 },
    gather: { uncertain: 1 },
  });
  assert.deepEqual(counts(await status(at, "--set", "word=beta", "--only", "make")), { make: { stale: 1 } });
});

test("status of a running run shows running stages, their place and their start, at once and without a trace", async (t) => {
  const at = lab(t, repository);
  const go = join(at.outside, "go");
  at.define({
    stages: {
      first: { command: "echo x > {outputs.text}", gives: { text: "file" } },
      slow: {
        needs: ["first.text"],
        command: `touch '${at.outside}/began'; while [ ! -e '${go}' ]; do sleep 0.05; done`,
      },
    },
  });
  const { ended, child } = at.start(["run", at.name, "--json", "--root", at.root]);
  t.after(() => child.kill("SIGKILL"));
  await until("the stage to begin", () => existsSync(join(at.outside, "began")));
  const log = () => filesBelow(join(at.root, ".mlrb/journals/logs"));
  await until("the run to show its stage's log", () => Object.keys(log()).length > 0);
  /** All files except those that only save time, which may be deleted at any time. */
  const state = () => {
    const files = Object.entries(filesBelow(join(at.root, ".mlrb")));
    return Object.fromEntries(files.filter(([path]) => !path.startsWith("cache/memory/")));
  };
  const before = state();
  const said = await status(at);
  assert.deepEqual(state(), before, "status only looks");
  assert.deepEqual(counts(said), { first: { upToDate: 1 }, slow: { running: 1 } });
  const [run] = lines(said, "live-run");
  assert.deepEqual(
    [run!.owner.host, run!.owner.pid, run!.life, run!.stages.map(({ stage }: Line) => stage)],
    [hostname(), child.pid, "alive", ["slow"]],
  );
  assert.ok(Date.parse(run!.stages[0].since) <= Date.now());
  const text = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.match(text.stdout, new RegExp(`process ${child.pid} on .* started .* ago\n  slow  for \\d`));

  writeFileSync(go, "");
  assert.equal((await ended).code, 0);
  assert.deepEqual(lines(await status(at), "live-run"), []);
});

test("a killed run is not shown as running", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { slow: { command: `touch '${at.outside}/began'; sleep 20` } } });
  const { ended, child } = at.start(["run", at.name, "--json", "--root", at.root]);
  await until("the stage to begin", () => existsSync(join(at.outside, "began")));
  child.kill("SIGKILL");
  await ended;
  const said = await status(at);
  assert.deepEqual(counts(said), { slow: { neverRun: 1 } });
  assert.deepEqual(lines(said, "live-run"), []);
  assert.equal(existsSync(join(at.root, ".mlrb/work")), true, "clearing up is the next run's");
});
