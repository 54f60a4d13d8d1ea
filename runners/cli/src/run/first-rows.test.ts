import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import type { Result } from "@mlrb/local/run/result";
import type { Workspace } from "@mlrb/local/store/workspace";
import { terminalMeans } from "@mlrb/report/formats/terminal-table";
import { Example, pairItems, passed, referenceRows, scored, textItems } from "@mlrb/report/testing/example";
import { firstRows } from "./first-rows.ts";

const look = { width: 100, color: false };

/** Two tasks with two agents, scored and judged, and reference models of one task. */
function example(): Example {
  const made = new Example();
  for (const task of ["letters", "numbers"])
    for (const [at, agent] of ["plain", "strong"].entries()) {
      const axes = { task, agent, seed: 1 };
      made.gives("attempt", axes, { submission: `${task} ${agent}` });
      made.gives("validate", axes, passed);
      const scorers = task === "letters" ? (["bits", "pairs"] as const) : (["right"] as const);
      for (const scorer of scorers)
        made.gives(
          "score",
          { ...axes, scorer },
          scored(scorer, scorer === "bits" ? textItems(3 - at) : pairItems(60 + at)),
        );
    }
  const rows = [{ name: "unigram", kind: "baseline" as const, value: 3.5 }];
  return made.gives("references", { task: "letters", scorer: "bits" }, referenceRows("bits", rows as never));
}

/** The example as a plan whose report collects all of it, with a store that holds its texts. */
function planned(t: TestContext, made: Example) {
  const folder = mkdtempSync(join(tmpdir(), "first-rows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const digests = new Map<string, string>();
  const instances = made.members.map(({ stage: id, name, role, axes, artifacts }, index) => ({
    ...{ index, id, axes, inputs: [], members: [] },
    stage: { name, role, gives: Object.keys(artifacts).map((file) => ({ name: file, file })) },
  }));
  const results = made.members.map(({ artifacts }, index): Result => {
    const outputs = Object.entries(artifacts).map(([name, { path }]) => {
      const text = made.texts.get(path!);
      const digest = `${index}-${name}`;
      digests.set(digest, join(folder, digest));
      writeFileSync(join(folder, digest), text?.kind === "ok" ? text.value : "");
      return [name, { kind: "file", digest }];
    });
    return { outcome: { kind: "succeeded" }, outputs: Object.fromEntries(outputs) } as never;
  });
  const report = {
    ...{ index: instances.length, id: "report", axes: {}, inputs: [], action: { params: made.params } },
    stage: { name: "report", publishes: true, gives: [] },
    members: instances.flatMap(({ index, stage }) =>
      stage.gives.map(({ name }) => ({ from: index, output: name })),
    ),
  };
  const plan = { instances: [...instances, report] } as unknown as Plan;
  const workspace = { store: { pathOf: (digest: string) => digests.get(digest) } } as unknown as Workspace;
  return { plan, workspace, results, selected: plan.instances.map(({ index }) => index) };
}

/** The rows after the end of each instance in the given order. */
async function played(t: TestContext, made: Example, kind: OutcomeKind = "succeeded") {
  const { results, ...of } = planned(t, made);
  const rowsOf = firstRows(of);
  const known: (Result | undefined)[] = [];
  const shown: { after: string; lines: string[] }[] = [];
  for (const [index, result] of results.entries()) {
    known[index] = { ...result, outcome: { kind } as never };
    const rows = await rowsOf(of.plan.instances[index] as Instance, known);
    if (rows) shown.push({ after: made.members[index]!.stage, lines: rows(look) });
  }
  return shown;
}

const cells = (lines: string[]) => lines.map((line) => line.replace(/[\s│]+/g, " ").trim());

test("the rows of a task come with the end of the last member that the report collects of it, and are the final ones", async (t) => {
  const made = example();
  const shown = await played(t, made);
  assert.deepEqual(
    shown.map(({ after }) => after),
    ["score[task=numbers,agent=strong,seed=1,scorer=right]", "references[task=letters,scorer=bits]"],
  );
  const final = new Set(cells(terminalMeans(made.report(), look)));
  for (const { lines } of shown) {
    const rows = cells(lines).filter((line) => /[0-9]/.test(line));
    assert.ok(rows.length > 0, lines.join("\n"));
    for (const row of rows) assert.ok(final.has(row), `${row} is no row of\n${[...final].join("\n")}`);
  }
  assert.match(shown[1]!.lines.join("\n"), /bits.*3\.0.*2\.0/, "worse and better agent");
});

test("a task that was only reused, and the single task of a run, have no rows", async (t) => {
  assert.deepEqual(await played(t, example(), "reused"), []);
  const single = example();
  single.members.splice(
    0,
    single.members.length,
    ...single.members.filter(({ axes }) => axes.task === "letters"),
  );
  assert.deepEqual(await played(t, single), []);
});

test("a report with other parameters has no rows, and ends no run", async (t) => {
  const other = example();
  for (const name of Object.keys(other.params)) delete other.params[name];
  assert.deepEqual(await played(t, other), []);
});
