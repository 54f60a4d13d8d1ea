// What `report --against` names: an earlier run, a folder of results or a report.json.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Report } from "@mlrb/formats/report";
import { ifReadable } from "@mlrb/local/store/if-readable";
import type { Workspace } from "@mlrb/local/store/workspace";
import { typedIn } from "../request/root-folder.ts";
import { readReportText } from "../show/read-report.ts";
import { type JournalOfRun, journalOfRun, runsWith } from "./key-of-run.ts";

export type Against = {
  /** As a heading names it. */
  name: string;
  report: Report;
  /** The action key that a stage instance had; undefined where it is not known. */
  keyOf: (stage: string) => string | undefined;
};

export type NotOpened = { problem: string; help: string };

/** Where runs are searched. */
type Place = { plan: Plan; workspace: Workspace };

const reportName = "report.json";
const listedMax = 5;

export function openAgainst(what: string, at: Place): Against | NotOpened {
  const path = resolve(typedIn(), what);
  if (existsSync(path)) {
    const file = statSync(path).isDirectory() ? join(path, reportName) : path;
    if (existsSync(file)) return fromText(readFileSync(file, "utf8"), { name: what, keyOf: () => undefined });
    return { problem: `no-report: ${what} has no ${reportName}`, help: "name a folder that `run` published" };
  }
  const run = journalOfRun(at.workspace.state.journals, what);
  if (run) return ofRun(run, at);
  const problem = `no-such-result: "${what}" is no file, no folder and no run of this state folder`;
  return { problem, help: namedRuns(at) };
}

function fromText(text: string, { name, keyOf }: Omit<Against, "report">): Against | NotOpened {
  const reading = readReportText(text);
  if (reading.kind === "ok") return { name, keyOf, report: reading.value };
  return {
    problem: `no-report: ${name} is not a report of this version (${reading.cause})`,
    help: `name a run, a folder of results or its ${reportName}`,
  };
}

function ofRun({ run, pipeline, profile, keys }: JournalOfRun, at: Place): Against | NotOpened {
  const { plan, workspace } = at;
  if (pipeline !== plan.pipeline || profile !== plan.profile)
    return {
      problem: `another-pipeline: the run ${run} is of ${pipeline} (${profile}), not of ${plan.pipeline} (${plan.profile})`,
      help: "name a run of this pipeline and profile, or a folder of results",
    };
  const name = `run ${run}`;
  const key = publishing(plan)
    .map((stage) => keys.get(stage))
    .find((one) => one !== undefined);
  if (key === undefined) return { problem: `no-report: the ${name} made no report`, help: namedRuns(at) };
  const text = reportText(key, workspace);
  if (text === undefined)
    return { problem: `no-report: the report of the ${name} is no longer in the cache`, help: namedRuns(at) };
  return fromText(text, { name, keyOf: (stage) => keys.get(stage) });
}

/** The report that the action with this key made. */
function reportText(key: string, { actions, store }: Workspace): string | undefined {
  for (const { kind, digest } of Object.values(actions.get(key)?.outputs ?? {})) {
    const files = kind === "dir" ? (ifReadable(() => store.filesOf(digest)) ?? []) : [];
    const file = files.find(({ path }) => path === reportName);
    if (file) return ifReadable(() => store.textOf(file.digest));
  }
  return undefined;
}

function publishing({ instances }: Plan): string[] {
  return instances.filter(({ stage }) => stage.publishes).map(({ id }) => id);
}

/** The newest runs that a comparison can name, in words. */
function namedRuns({ plan, workspace }: Place): string {
  const { pipeline, profile } = plan;
  const asked = { pipeline, profile, stages: publishing(plan), most: listedMax };
  const runs = runsWith(workspace.state.journals, asked);
  if (runs.length === 0)
    return "name a folder of results or a report.json; no earlier run here made a report";
  const named = runs.map(({ run, selection }) => (selection === "" ? run : `${run} (${selection})`));
  return `name a folder of results, a report.json or a run: ${named.join(", ")}`;
}
