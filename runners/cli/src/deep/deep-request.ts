// The request `pipeline doctor --deep`: which pipeline's work is tried, what it may cost, and what is printed.
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { parse } from "yaml";
import type { CostOptions } from "../gates/cost-gate.ts";
import { refuse } from "../request/refuse.ts";
import { readWords } from "../request/request.ts";
import { executorNames } from "../run/executors.ts";
import { printJson } from "../show/print-json.ts";
import { type DeepOptions, deepPipeline, hostChecks } from "./deep-checks.ts";
import { type DeepCheck, deepText } from "./deep-text.ts";
import { agreedToolCalls, toolCallChecks } from "./tool-calls.ts";

const limitMs = 15 * 60_000;

/** Tries each kind of work; `refused` after printing why nothing is tried. */
export async function deepRequest(
  repository: string,
  pipeline: string,
  options: Omit<DeepOptions, "weakLimits"> & CostOptions & { weakLimits?: boolean },
): Promise<"refused" | (() => Promise<"passed" | "failed" | "interrupted" | "refused">)> {
  const { json, profile, executor } = options;
  const sources = sourceFiles(repository);
  const file = `pipelines/${deepPipeline}.yaml`;
  const checked = (parse(sources.read(file) ?? "{}") as { extends?: unknown }).extends;
  if (checked !== pipeline) {
    const help = `type \`pnpm pipeline doctor ${String(checked)} --deep\`; --set selects a part of it`;
    const message = `${file} declares checks of ${String(checked)}, not of ${pipeline}`;
    refuse([{ code: "no-deep-checks", message, help }], json);
    return "refused";
  }
  const words = readWords(deepPipeline, { repository, sources, set: options.set });
  const planned =
    "problems" in words ? words : loadPlan({ ...words, profile, executor }, sources, executorNames);
  if ("problems" in planned) {
    refuse(planned.problems, json);
    return "refused";
  }
  const agents = planned.plan.instances.flatMap(({ axes }) => axes.agent ?? []).map(String);
  const calls = await agreedToolCalls([...new Set(agents)], sources, options);
  if (!calls) return "refused";
  return async () => {
    const begin = performance.now();
    const models = await toolCallChecks(calls, (name) => process.env[name]);
    const leftMs = limitMs - (performance.now() - begin);
    const host = await hostChecks(repository, {
      ...options,
      ...{ pipeline, limitMs: leftMs, weakLimits: options.weakLimits ?? false },
    });
    if (!host) return "refused";
    const checks: DeepCheck[] = [...models, ...host.checks];
    if (json) for (const check of checks) printJson({ event: "deep-check", ...check });
    else process.stdout.write(`\n${deepText(checks)}`);
    if (host.interrupted) return "interrupted";
    return checks.every(({ kind }) => kind === "passed") ? "passed" : "failed";
  };
}
