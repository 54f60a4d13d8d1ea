// Gathers what the page shows besides the report: how every stage instance ended, why it ran, what it was made
// from, and the stories of attempts. Only reads; missing files are reported as missing.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { reasonWords } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { type Outcome, outcomeCause } from "@mlrb/core/ports/outcome";
import { formatDuration } from "@mlrb/core/text/units";
import type { Report } from "@mlrb/formats/report";
import { endsWhere, type LastEnd } from "@mlrb/local/journal/last-ends";
import type { Workspace } from "@mlrb/local/store/workspace";
import { idOf } from "@mlrb/report/page/html";
import type { Made, PageData, PageInstance, PageOutcome, PageStory } from "@mlrb/report/page/page-data";
import { togetherMs } from "@mlrb/report/page/stages-part";
import { graphOf } from "../graph/graph.ts";
import { graphSvg } from "../graph/graph-svg.ts";
import { protocolOf } from "../protocol/observe-protocol.ts";
import { typedCommand } from "../request/typed-command.ts";
import { commitOfProgram } from "../show/checkout.ts";
import type { InstanceState } from "../show/instance-state.ts";
import { lastLines } from "../show/last-lines.ts";
import { readTimes } from "../show/read-report.ts";
import { nodeOf, type ReusedKeys, shownParams, type TraceNode } from "../show/trace-nodes.ts";
import { pageStory } from "./page-story.ts";

const logLines = 8;

/** The plan of the page, and the folder of its results. */
export type PageRequest = {
  plan: Plan;
  workspace: Workspace;
  /** Without it, stages show their last success, as after a run of the plan. */
  reused?: ReusedKeys;
  folder: string;
  /** As typed. */
  options: { profile?: string; set: string[] };
};

export async function pageData(request: PageRequest & { report: Report }): Promise<PageData> {
  const { plan, workspace, folder, report } = request;
  // without --root: a page may be published, and its readers have other folders
  const { profile, set } = request.options;
  const again = (only: string) =>
    typedCommand("run", plan.pipeline, { ...(profile !== undefined && { profile }), set, only: [only] });
  const planned = plan.instances.filter(({ stage }) => stage.name !== environmentStage);
  const asked = { pipeline: plan.pipeline, profile: plan.profile, wanted: planned.map(({ id }) => id) };
  const { journals } = workspace.state;
  const ends = endsWhere(journals, asked, () => true);
  const carriedOut = ({ kind }: Outcome) => kind === "succeeded" || kind === "failed";
  const untold = asked.wanted.filter((id) => !carriedOut(ends.get(id)?.outcome ?? { kind: "reused" }));
  const ran = endsWhere(journals, { ...asked, wanted: untold }, carriedOut);
  const behind = planned.map((instance) => {
    const node = nodeOf(instance, request);
    return { instance, node: typeof node === "string" ? undefined : node };
  });
  const instances = behind.map(({ instance, node }): PageInstance => {
    const end = ends.get(instance.id);
    const reasons = (ran.get(instance.id) ?? end)?.reasons ?? [];
    const lost = reasons.find(({ kind }) => kind === "lost");
    return {
      id: instance.id,
      stage: instance.stage.name,
      ...(instance.stage.role !== undefined && { role: instance.stage.role }),
      axes: instance.axes,
      outcome: outcomeOf(end, node),
      reasons: reasons.map(reasonWords),
      ...(lost && { lost: reasonWords(lost) }),
      made: node ? madeOf(node, again) : null,
      said: node ? lastLines(node.log, logLines) : [],
    };
  });
  const path = join(folder, "times.json");
  const times = existsSync(path) ? readTimes(path) : undefined;
  return {
    report,
    times: times?.kind === "ok" ? times.value : null,
    plan: { pipeline: plan.pipeline, profile: plan.profile, selection: plan.selection },
    protocol: protocolOf(request, report),
    commit: commitOfProgram(),
    graph: await drawn(plan, instances),
    instances,
    stories: behind.flatMap(({ instance, node }) =>
      instance.stage.durable && node ? [storyOf(instance, node, workspace)] : [],
    ),
  };
}

function outcomeOf(end: LastEnd | undefined, node: TraceNode | undefined): PageOutcome {
  const kind = end?.outcome.kind;
  if (end && (kind === "failed" || kind === "skipped" || kind === "cancelled"))
    return { kind, cause: outcomeCause(end.outcome) };
  return { kind: kind !== undefined || node ? "succeeded" : "unknown" };
}

function madeOf(
  { stage, key, record, run, parts, inputs, outputs, ran }: TraceNode,
  again: (only: string) => string,
): Made {
  return {
    key,
    record,
    script: run.kind === "command" ? [run.command].flat().join(" ") : run.file,
    params: shownParams(parts.params),
    files: Object.entries(parts.files).map(([path, digest]) => ({ path, digest })),
    inputs,
    outputs: Object.entries(outputs).map(([name, { digest }]) => ({ name, digest })),
    environment: parts.environment ?? null,
    ran,
    again: again(stage),
  };
}

function storyOf({ axes }: Instance, { record }: TraceNode, workspace: Workspace): PageStory {
  const place = { task: String(axes.task), agent: String(axes.agent), seed: axes.seed ?? "" };
  if (record === null)
    return { ...place, kind: "unreadable", cause: "this state folder holds no record of the attempt" };
  const { trajectory, ledger, attachments } = workspace.attempts.read(record).outputs;
  const folder = join(workspace.state.attempts, "records", record);
  if (!trajectory) return { ...place, kind: "unreadable", cause: "its record holds no trajectory" };
  const at = (output: { file: string } | undefined) => output && join(folder, output.file);
  return { ...place, ...pageStory(join(folder, trajectory.file), at(ledger), at(attachments)) };
}

/** A drawing of the stages with their outcomes and durations; each links to its instances. */
async function drawn(plan: Plan, instances: PageInstance[]): Promise<string> {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const stateOf = new Map(
    plan.instances.flatMap(({ id, index }) => {
      const found = byId.get(id);
      return found ? [[index, stateWord(found.outcome)] as const] : [];
    }),
  );
  const graph = graphOf(plan, { stateOf, all: true, instances: false });
  const byStage = Map.groupBy(instances, ({ stage }) => stage);
  const nodes = graph.nodes.map((node) => {
    const ms = togetherMs(byStage.get(node.name) ?? []);
    return { ...node, lines: [...node.lines, formatDuration(ms)], href: `#${idOf("stages", node.name)}` };
  });
  const svg = await graphSvg({ ...graph, nodes });
  // without the XML declaration and doctype, which only a file of its own may have
  return svg.slice(svg.indexOf("<svg"));
}

function stateWord({ kind }: PageOutcome): InstanceState {
  if (kind === "succeeded") return "upToDate";
  return kind === "failed" ? "failed" : "neverRun";
}
