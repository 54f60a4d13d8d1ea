// What walls add to a smoke run: the number of stages with `opens: untrusted` in a run of the pipeline `hello`,
// times what walls add to a forked score, against the time of that run. Durations with and without walls differ by
// less than other work on a machine changes them, so they are not compared.
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { latestEvents } from "./journal.ts";
import { type Bench, pipeline, repository, seconds } from "./tools.ts";

/** What walls may add to a smoke run, as a share of its time. */
const share = 0.05;

type Walled = Bench & { python: string; addedSeconds: number };

export async function benchSmokeWalls({ work, row, python, addedSeconds }: Walled): Promise<void> {
  const root = join(work, "hello");
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  symlinkSync(dirname(dirname(dirname(python))), join(root, ".mlrb/environments"));
  const total = await seconds(() => pipeline("run", "hello", "--root", root));
  const opening = openingStages();
  const count = latestEvents(root).filter(
    ({ event, stage, outcome }) =>
      event === "stage" && outcome?.kind === "succeeded" && opening.has(stage!.replace(/\[.*/, "")),
  ).length;
  row(`walls of the ${count} stages of hello that open submissions`, count * addedSeconds, {
    against: `${100 * share} % of its run of ${total.toFixed(1)} s`,
    other: share * total,
    target: 1,
  });
}

function openingStages(): Set<string> {
  const asked = { file: "pipelines/hello.yaml", profile: undefined, set: {}, executor: undefined };
  const planned = loadPlan(asked, sourceFiles(repository), ["local"]);
  if ("problems" in planned) throw new Error("the pipeline hello has problems");
  const opening = planned.plan.instances.filter(({ stage }) => stage.opens !== undefined);
  return new Set(opening.map(({ stage }) => stage.name));
}
