// An attempt starts only after the stages of `startAfter` have succeeded. A person can leave them out; then the
// attempt's record says so, also where a later run reuses it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { counted, type Lab, lab, outcomes, results } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** Reference models are scored for each task; the check of task `low` fails while no file says otherwise. Without `declared` there is no check. */
function define(at: Lab, { rows = "rows", declared = "a model" } = {}): void {
  at.define({
    params: { declared },
    axes: { task: ["high", "low"], seed: [1] },
    stages: {
      references: {
        each: ["task"],
        command: counted(at, "references", `echo {task} ${rows} > {outputs.rows}`),
        gives: { rows: "file" },
      },
      check: {
        each: ["task"],
        when: "{params.declared}",
        collect: ["references.rows"],
        command: `(test {task} = high || test -e ${at.outside}/mended) && echo checked > {outputs.checks}`,
        gives: { checks: "file" },
      },
      attempt: {
        each: ["task", "seed"],
        startAfter: ["check"],
        needsCheck: true,
        durable: true,
        command: counted(at, "attempt-{task}", "echo made > {outputs.submission}"),
        gives: { submission: "file" },
      },
      summary: {
        collect: ["attempt.submission"],
        command: "cp {inputs.manifest} {outputs.text}",
        gives: { text: "file" },
      },
    },
  });
}

const [high, low] = ["attempt[task=high,seed=1]", "attempt[task=low,seed=1]"];
const flag = "--skip-reference-models";

/** What the published manifest says of each attempt: its outcome and the checks that were left out. */
function members(at: Lab): Record<string, unknown> {
  const [text] = Object.values(results(at));
  return Object.fromEntries(
    JSON.parse(text!).members.map((one: Record<string, unknown>) => [
      one.stage,
      one.skippedChecks ?? one.undeclaredChecks ?? one.outcome,
    ]),
  );
}

test("a failed check keeps only its own attempts from starting, and a later success starts them", async (t) => {
  const at = lab(t, repository);
  define(at);
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.equal(outcomes(said)[high], "succeeded");
  assert.equal(outcomes(said)[low], "skipped");
  assert.deepEqual(at.executions(), { references: 2, "attempt-high": 1 });
  assert.deepEqual(members(at), { [high]: "succeeded", [low]: "skipped" });
  writeFileSync(join(at.outside, "mended"), "");
  const mended = await at.run();
  assert.equal(mended.code, 0, mended.stderr);
  assert.deepEqual(members(at), { [high]: "succeeded", [low]: "succeeded" });
});

test("without its check an attempt starts, its record says so in every later run, and it is not made again", async (t) => {
  const at = lab(t, repository);
  define(at);
  const skipped = await at.run(flag);
  assert.equal(skipped.code, 0, skipped.stderr);
  assert.equal(outcomes(skipped)["check[task=low]"], undefined, "the check is not planned");
  const marks = { [high]: ["check[task=high]"], [low]: ["check[task=low]"] };
  assert.deepEqual(members(at), marks);
  const shown = await at.pipeline(["attempts", "show", low, "--root", at.root]);
  assert.match(shown.stdout, /^started without check\[task=low\] \(--skip-reference-models\)$/m);
  const again = await at.run();
  assert.equal(outcomes(again)["check[task=low]"], "failed");
  assert.equal(outcomes(again)[low], "reused");
  assert.deepEqual(members(at), marks);
  assert.deepEqual(at.executions(), { references: 2, "attempt-high": 1, "attempt-low": 1 });
});

test("where nothing declares a check, the record of an attempt that needs one says so for good", async (t) => {
  const at = lab(t, repository);
  define(at);
  const marked = { [high]: ["check[task=high]"], [low]: ["check[task=low]"] };
  define(at, { declared: "" });
  const said = await at.run();
  assert.equal(said.code, 0, said.stderr);
  assert.deepEqual(members(at), marked);
  const shown = await at.pipeline(["attempts", "show", low, "--root", at.root]);
  assert.match(shown.stdout, /^started without check\[task=low\] \(no reference model is declared\)$/m);
  define(at);
  const again = await at.run();
  assert.equal(outcomes(again)[low], "reused");
  assert.deepEqual(members(at), marked, "also where a later run has the check");
});

test("selected attempts are refused unless their check is selected or its result is valid", async (t) => {
  const at = lab(t, repository);
  define(at);
  const refused = await at.run("--only", "attempt[task=high]");
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(
    refused.stderr,
    /not-checked: attempt\[task=high,seed=1\] starts only after check\[task=high\]/,
  );
  assert.deepEqual(at.executions(), {});
  const planned = await at.plan("--only", "attempt[task=high]");
  assert.equal(planned.lines.find(({ event }) => event === "note")?.code, "not-checked");
  const checked = await at.run("--only", "check[task=high]", "--only", "references[task=high]");
  assert.equal(checked.code, 0, checked.stderr);
  const started = await at.run("--only", "attempt[task=high]");
  assert.equal(outcomes(started)[high], "succeeded", started.stderr);
  const others = await at.run("--only", "attempt[task=low]", flag);
  assert.equal(outcomes(others)[low], "succeeded", others.stderr);
  const more = await at.run("--only", "attempt");
  assert.equal(more.code, 0, "recorded attempts need no check");
});

test("a selected check counts only if what it reads is selected or valid", async (t) => {
  const at = lab(t, repository);
  define(at);
  writeFileSync(join(at.outside, "mended"), "");
  const checked = await at.run("--only", "check", "--only", "references");
  assert.equal(checked.code, 0, checked.stderr);
  define(at, { rows: "other rows" });
  const refused = await at.run("--only", "attempt", "--only", "check");
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(refused.stderr, /after check\[task=high\] has succeeded, which reads references\[task=high\]/);
  const whole = await at.run("--only", "attempt", "--only", "check", "--only", "references");
  assert.equal(outcomes(whole)[high], "succeeded", whole.stderr);
});

test("plan, explain and graph show what an attempt starts after", async (t) => {
  const at = lab(t, repository);
  define(at);
  const plan = (...more: string[]) => at.pipeline(["plan", at.name, "--root", at.root, ...more]);
  assert.match((await plan()).stdout, /^ {2}check\[task=low\]$/m);
  assert.match((await plan(flag)).stdout, /^2 attempts would start without a check of reference models/m);
  const summary = (await at.plan()).lines.findLast(({ event }) => event === "summary");
  assert.deepEqual(summary!.checks, {
    first: ["check[task=high]", "check[task=low]"],
    skipped: 0,
    without: [],
  });
  const explained = await at.pipeline(["explain", low, "--pipeline", at.name, "--root", at.root]);
  assert.match(explained.stdout, /^ {2}starts only after check\[task=low\] has succeeded/m);
  assert.doesNotMatch(explained.stdout, /^ {4}(code|params)$/m, "short by default");
  const graph = await at.pipeline(["graph", at.name, "--root", at.root]);
  assert.match(graph.stdout, /label="starts after"/);
});
