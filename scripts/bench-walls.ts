// What walls add to a smoke run: the pipeline `hello` runs once without walls and once with them, each in a fresh state
// folder. Compared are the durations of its stages with `opens: untrusted`, which vary less than the time of a run.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { latestEvents } from "./bench-journal.ts";
import { type Bench, pipeline, repository, run, seconds } from "./bench-tools.ts";

/** What walls may add to a smoke run, as a share of its time. */
const share = 0.05;

export async function benchSmokeWalls({ work, row, python }: Bench & { python: string }): Promise<void> {
  const without = await hello(join(work, "without-walls"), { python, PATH: pathWithoutWalls(work) });
  const within = await hello(join(work, "within-walls"), { python });
  if (without.count !== within.count) throw new Error("the two runs of hello have different stages");
  const other = without.opening + share * without.total;
  row(`${within.count} stages of hello inside walls`, within.opening, {
    against: `without walls, ${without.opening.toFixed(2)} s, and ${100 * share} % of its run of ${without.total.toFixed(1)} s`,
    other,
    target: 1,
  });
}

/** Seconds of a run of hello from nothing but its environment, and of its stages that open an agent's files. */
async function hello(root: string, { python, PATH }: { python: string; PATH?: string }) {
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  symlinkSync(dirname(dirname(dirname(python))), join(root, ".mlrb/environments"));
  const before = process.env.PATH;
  process.env.PATH = PATH ?? before!;
  const total = await seconds(() => pipeline("run", "hello", "--root", root));
  process.env.PATH = before!;
  const opening = openingStages();
  const ran = latestEvents(root).filter(
    ({ event, stage, outcome }) =>
      event === "stage" && outcome?.kind === "succeeded" && opening.has(stage!.replace(/\[.*/, "")),
  );
  const sum = ran.reduce((all, { durationMs = 0 }) => all + durationMs / 1000, 0);
  return { total, opening: sum, count: ran.length };
}

function openingStages(): Set<string> {
  const asked = { file: "pipelines/hello.yaml", profile: undefined, set: {}, executor: undefined };
  const planned = loadPlan(asked, sourceFiles(repository), ["local"]);
  if ("problems" in planned) throw new Error("the pipeline hello has problems");
  const opening = planned.plan.instances.filter(({ stage }) => stage.opens !== undefined);
  return new Set(opening.map(({ stage }) => stage.name));
}

/** A PATH whose python3 builds no walls and does everything else. */
function pathWithoutWalls(work: string): string {
  const folder = join(work, "no-walls");
  mkdirSync(folder, { recursive: true });
  const real = run("sh", ["-c", "command -v python3"]).trim();
  const text = `#!/bin/sh\ncase "$*" in *walls.py*) echo "no walls in this bench" >&2; exit 1 ;; esac\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, "python3"), text, { mode: 0o755 });
  return `${folder}${delimiter}${process.env.PATH}`;
}
