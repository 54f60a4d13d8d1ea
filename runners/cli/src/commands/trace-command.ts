// `pipeline trace`: from a cell of a table to every script, input, attempt and machine behind it. Shows what the
// last success was made from, and whether a run would now make something else.

import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { instancesMatching } from "@mlrb/core/plan/select-instances";
import { counted } from "@mlrb/core/text/counted";
import { quantityText } from "@mlrb/core/text/quantity";
import { columnLines } from "@mlrb/core/text/terminal-grid";
import { formatDuration } from "@mlrb/core/text/units";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { score } from "@mlrb/formats/judged/score";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Store } from "@mlrb/local/store/artifact-store";
import { ifReadable } from "@mlrb/local/store/if-readable";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { readPlain } from "@mlrb/report/read/read-plain";
import { refuseWords } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import { typedCommand } from "../request/typed-command.ts";
import { lastLines } from "../show/last-lines.ts";
import { printJson } from "../show/print.ts";
import { valueText } from "../show/shorten.ts";
import { reusedKeys, type TraceNode, traceOf } from "../show/trace-nodes.ts";
import type { ExplainOptions } from "./explain-command.ts";

const logLines = 3;

/** `cell`: task, metric, agent and optionally a seed, as tables name them; or a stage instance or pattern. */
export async function traceCommand(
  repository: string,
  cell: string[],
  options: ExplainOptions,
): Promise<number> {
  const request = await rememberedRequest(repository, options.pipeline, { ...options, only: [] });
  if (!request) return 2;
  const { plan, selected, root } = request;
  const pattern = patternOf(cell);
  const wanted = pattern === undefined ? [] : instancesMatching(plan, pattern);
  if (wanted.length === 0) {
    const help =
      pattern === undefined
        ? "name a cell as the tables do, e.g. `trace baby-lm bits-per-byte script-strong`, or a stage instance"
        : ((cell.length > 1 ? cellHelp(cell, plan) : undefined) ??
          didYouMean(
            pattern,
            plan.instances.map(({ id }) => id),
          ));
    return refuseWords(
      `nothing-selected: no stage instance of ${plan.pipeline} is "${cell.join(" ")}"\n  help: ${help}`,
    );
  }
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const { previews } = await previewPlan(plan, selected, { workspace, stale: { kind: plan.onStale } });
  const reused = reusedKeys(previews);
  const moved = new Map(previews.map(({ index, action }) => [index, action !== "reuse"]));
  let untold = false;
  for (const { index, id } of wanted) {
    const { nodes, missing } = traceOf(index, { plan, workspace, reused });
    const again = typedCommand("run", plan.pipeline, { ...options, pipeline: undefined, only: [id] });
    const outdated = moved.get(index) ?? false;
    untold ||= nodes[0]?.stage !== id;
    if (options.json) {
      printJson({ event: "trace", stage: id, outdated, again, nodes, missing });
      continue;
    }
    const at = { root, store: workspace.store };
    const lines = options.all ? nodes.flatMap((node) => nodeLines(node, at)) : shortLines(nodes, at);
    const notes = [
      ...missing.map(({ stage, why }) => `unknown: ${stage}: ${why}`),
      ...(outdated ? ["its inputs have changed since: a run would make it again, `explain` shows why"] : []),
      ...(options.all ? [] : ["--all lists the parameters, digests and log of every stage"]),
      `to repeat: ${again}`,
    ];
    process.stdout.write(`${[...lines, ...notes].join("\n")}\n\n`);
  }
  return untold ? 1 : 0;
}

/** The pattern that the words mean; undefined if they name neither a cell nor an instance. */
function patternOf(cell: string[]): string | undefined {
  const [task, metric, agent, seed, ...more] = cell;
  if (cell.length === 1) return task;
  if (agent === undefined || more.length > 0) return undefined;
  const axes = [`task=${task}`, `agent=${agent}`, ...(seed === undefined ? [] : [`seed=${seed}`])];
  return `score[${axes.join(",")},scorer=${metric}]`;
}

/** Which word of a cell is none of the tables', with those that are; undefined for other words. */
function cellHelp([task, metric, agent, seed]: string[], { instances }: Plan): string | undefined {
  let cells = instances.flatMap(({ stage, axes }) => (stage.name === "score" ? [axes] : []));
  for (const [axis, value] of Object.entries({ task, scorer: metric, agent, seed })) {
    if (value === undefined) continue;
    const known = [...new Set(cells.map((axes) => String(axes[axis])))];
    cells = cells.filter((axes) => String(axes[axis]) === value);
    if (cells.length > 0 || known.length === 0) continue;
    const what = axis === "scorer" ? `metric of ${task}` : axis;
    return `"${value}" is no ${what}; they are ${known.join(", ")}`;
  }
  return undefined;
}

type Place = { root: string; store: Store };

function row(head: string, text: string): string {
  return `  ${head.padEnd(12)}${text}`;
}

/** The number's own stage, and a line for each stage behind it. */
function shortLines([node, ...behind]: TraceNode[], { root, store }: Place): string[] {
  if (!node) return [];
  return [
    `${node.stage}${scoreWords(node, store)}`,
    scriptRow(node),
    ...node.inputs.map(({ name, from }) => row("input", `${name}, of ${from}`)),
    ...ranRows(node),
    ...(existsSync(node.log) ? [row("log", relative(root, node.log))] : []),
    ...(behind.length > 0 ? ["  made from"] : []),
    ...columnLines(
      behind.map(({ stage, ran, record, key }) => {
        const what = record === null ? `key ${short(key)}` : `record ${short(record)}`;
        return [stage, what, `${formatDuration(ran.durationMs)} on ${ran.host}`];
      }),
    ).map((line) => `    ${line}`),
  ];
}

function scriptRow({ run, parts, key }: TraceNode): string {
  const script = run.kind === "command" ? [run.command].flat().join(" ") : run.file;
  const files = Object.keys(parts.code).length;
  return row(
    run.kind === "command" ? "command" : "script",
    `${script}${files > 0 ? ` (${counted(files, "source file")})` : ""}, key ${short(key)}`,
  );
}

function ranRows({ ran }: TraceNode): string[] {
  const how = `${formatDuration(ran.durationMs)}, ${ran.executor} on ${ran.host}`;
  return [
    row("ran", `${ran.startedAt}, ${how}, run ${ran.run}`),
    ...Object.entries(ran.where ?? {}).map(([name, value]) => row(`  ${name}`, value)),
  ];
}

function nodeLines(node: TraceNode, { root, store }: Place): string[] {
  const { parts } = node;
  const said = lastLines(node.log, logLines);
  const params = Object.entries(parts.params).map(([name, value]) => `${name}=${valueText(value, 60)}`);
  return [
    `${node.stage}${scoreWords(node, store)}`,
    scriptRow(node),
    ...(node.record ? [row("record", `${node.record}`)] : []),
    ...(params.length > 0 ? [row("params", params.join(", "))] : []),
    ...Object.entries(parts.files).map(([file, digest]) => row("file", `${file} ${short(digest)}`)),
    ...node.inputs.map(({ name, digest, from, output }) =>
      row("input", `${name} ${short(digest)}, ${output} of ${from}`),
    ),
    ...Object.entries(node.outputs).map(([name, { digest }]) => row("output", `${name} ${short(digest)}`)),
    ...(parts.environment ? [row("environment", short(parts.environment))] : []),
    ...Object.entries(parts.services ?? {}).map(([name, key]) => row("service", `${name} ${short(key)}`)),
    ...ranRows(node),
    ...(existsSync(node.log)
      ? [row("log", relative(root, node.log)), ...said.map((line) => `              ${line}`)]
      : []),
  ];
}

/** The score of a scoring stage; empty for other stages. */
function scoreWords({ outputs }: TraceNode, store: Store): string {
  const file = outputs.score;
  if (file?.kind !== "file") return "";
  const text = ifReadable(() => readFileSync(store.pathOf(file.digest), "utf8"));
  if (text === undefined) return ": its file is no longer in the cache; a run would make it again";
  const reading = readPlain(score, text);
  if (reading.kind === "unreadable") return `: its score cannot be read (${reading.cause})`;
  const found = reading.value;
  if (found.kind === "rejected") return `: rejected (${found.reason})`;
  if (found.kind === "not-measured") return `: not measured (${found.reason})`;
  const { value, standardError, unit, items, version } = found;
  return `: ${quantityText(value, standardError, unit)} over ${items} items, version ${version}`;
}

function short(digest: string): string {
  return digest.slice(0, 12);
}
