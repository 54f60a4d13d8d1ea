// `pipeline explain`: shows why an instance would run or be reused, the parts of its key, and the stages upstream.

import { type Reason, reasonWords } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { instancesMatching } from "@mlrb/core/plan/select-instances";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { bind } from "@mlrb/local/decide/bind-inputs";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { refuseWords } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { printJson } from "../show/print.ts";
import { valueText } from "../show/shorten.ts";
import { weakLimitsLine } from "../show/weak-limits-line.ts";

export type ExplainOptions = Omit<CommonOptions, "only" | "executor"> & {
  pipeline: string;
  /** Everything, instead of what a person looks at first. */
  all: boolean;
};

/** The stages upstream that are listed without --all. */
const upstreamMax = 8;

export async function explainCommand(
  repository: string,
  pattern: string,
  options: ExplainOptions,
): Promise<number> {
  const request = await rememberedRequest(repository, options.pipeline, { ...options, only: [] });
  if (!request) return 2;
  const { plan, selected, root } = request;
  const wanted = instancesMatching(plan, pattern);
  if (wanted.length === 0) {
    const ids = plan.instances.map(({ id }) => id);
    return refuseWords(
      `nothing-selected: no stage instance of ${plan.pipeline} matches "${pattern}"\n  help: ${didYouMean(pattern, ids)}`,
    );
  }
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const { previews, results } = await previewPlan(plan, selected, {
    workspace,
    stale: { kind: plan.onStale },
  });
  const byIndex = new Map(previews.map((preview) => [preview.index, preview]));
  const declared = new Map();
  const all: Explained[] = [];
  for (const instance of wanted) {
    const preview = byIndex.get(instance.index)!;
    const broken = preview.reasons.some(({ kind }) => kind === "cannot-start");
    const read = [...instance.inputs, ...instance.members];
    const known = !broken && read.every(({ from }) => results[from] !== undefined);
    const bound = known ? await bind(instance, { plan, workspace, results, declared }) : undefined;
    const chain = upstreamOf(instance, plan, byIndex);
    all.push({ preview, bound, broken, chain, lastKey: workspace.last.get(instance.id)?.key });
  }
  if (options.json) for (const one of all) printJson(explainLine(one, plan));
  else
    for (const group of options.all ? all.map((one) => [one]) : alike(all, plan)) {
      const lines = group.length === 1 ? explainText(group[0]!, plan, options) : groupText(group, plan);
      process.stdout.write(`${lines.join("\n")}\n`);
    }
  return 0;
}

/** Instances of one stage with equal reasons, in the order of their first. */
function alike(all: Explained[], { instances }: Plan): Explained[][] {
  const groups = Map.groupBy(all, ({ preview: { index, action, certain, reasons }, bound }) =>
    [instances[index]!.stage.name, action, certain, bound !== undefined, ...reasons.map(ofStage)].join("\n"),
  );
  return [...groups.values()];
}

/** A reason with the names of stages in place of instances. */
function ofStage(reason: Reason): string {
  return reasonWords(reason).replaceAll(/\[\w+=[^\]\s]*\]/g, "");
}

function groupText(group: Explained[], { instances }: Plan): string[] {
  const { action, certain, reasons, index } = group[0]!.preview;
  const ids = group.map(({ preview }) => instances[preview.index]!.id);
  const before = new Map(group.flatMap(({ chain }) => chain.map((one) => [one.index, one])));
  const kinds = Map.groupBy(before.values(), (one) =>
    [one.action, instances[one.index]!.stage.name, ...one.reasons.map(ofStage)].join("\n"),
  );
  return [
    `${instances[index]!.stage.name}, ${group.length} instances: ${action}${certain ? "" : ", not certain"}`,
    ...reasons.map((reason) => `  because ${ofStage(reason)}`),
    ...(kinds.size > 0 ? ["  upstream"] : []),
    ...[...kinds.values()].map(([one, ...rest]) => {
      const { id, stage } = instances[one!.index]!;
      const what = rest.length === 0 ? id : `${stage.name}, ${rest.length + 1} instances`;
      return `    ${one!.action} ${what}: ${one!.reasons.map(ofStage).join("; ")}`;
    }),
    ...ids.slice(0, 3).map((id) => `  ${id}`),
    ...(ids.length > 3 ? [`  … and ${ids.length - 3} more`] : []),
    "  --all lists each with its key",
  ];
}

type Explained = {
  preview: Preview;
  /** undefined until its inputs have run, or if it cannot start. */
  bound: Awaited<ReturnType<typeof bind>> | undefined;
  broken: boolean;
  /** Instances that run before it, in execution order. */
  chain: Preview[];
  lastKey: string | undefined;
};

/** The instances upstream that would not be reused, each once. */
function upstreamOf(instance: Instance, plan: Plan, previews: ReadonlyMap<number, Preview>): Preview[] {
  const chain = new Map<number, Preview>();
  const visit = ({ inputs, members, checks = [] }: Instance) => {
    for (const from of [...[...inputs, ...members].map((one) => one.from), ...checks]) {
      const preview = previews.get(from);
      if (!preview || preview.action === "reuse" || chain.has(from)) continue;
      visit(plan.instances[from]!);
      chain.set(from, preview);
    }
  };
  visit(instance);
  return [...chain.values()];
}

function explainLine({ preview, bound, chain, lastKey }: Explained, { instances, weakLimits }: Plan): object {
  const { index, action, certain, reasons } = preview;
  const instance = instances[index]!;
  const upstream = chain.map((one) => {
    return { stage: instances[one.index]!.id, action: one.action, reasons: one.reasons };
  });
  return {
    event: "explain",
    stage: instance.id,
    action,
    certain,
    reasons,
    key: bound?.key,
    parts: bound?.parts,
    ...(weakLimits && instance.stage.untrusted && { weakLimits }),
    ...(instance.checks && { startsAfter: instance.checks.map((check) => instances[check]!.id) }),
    ...{ lastKey, upstream },
  };
}

function explainText(
  { preview, bound, broken, chain, lastKey }: Explained,
  plan: Plan,
  { all }: Pick<ExplainOptions, "all">,
): string[] {
  const { index, action, certain, reasons } = preview;
  const { instances } = plan;
  const { id, stage, checks = [] } = instances[index]!;
  const upstream = all ? chain : chain.slice(0, upstreamMax);
  const weak = stage.untrusted ? weakLimitsLine(plan) : "";
  const out = [
    `${id}: ${action}${certain ? "" : ", not certain"}`,
    ...reasons.map((reason) => `  because ${reasonWords(reason)}`),
    ...(weak === "" ? [] : [`  ${weak}`]),
    ...checks.map(
      (check) =>
        `  starts only after ${instances[check]!.id} has succeeded; a recorded result needs no check`,
    ),
    ...(chain.length > 0 ? ["  upstream"] : []),
    ...upstream.map(
      (one) => `    ${one.action} ${instances[one.index]!.id}: ${one.reasons.map(reasonWords).join("; ")}`,
    ),
    ...(chain.length > upstream.length
      ? [`    … and ${chain.length - upstream.length} more; --all lists them`]
      : []),
  ];
  if (!bound) return broken ? out : [...out, "  its key is not known until its inputs have run"];
  const same = lastKey === bound.key ? " (as at its last success)" : "";
  out.push(`  key ${bound.key}${same}`);
  if (lastKey !== undefined && same === "") out.push(`  was ${lastKey} at its last success`);
  if (!all) return [...out, "  --all lists the parts of its key"];
  const { code, files, inputs, params, axes, env, budget, environment, outputs } = bound.parts;
  for (const [name, part] of Object.entries({ code, files, inputs, params, axes, env, budget, outputs })) {
    const entries = Object.entries(part);
    if (entries.length > 0) out.push(`    ${name}`);
    for (const [key, value] of entries) out.push(`      ${key}: ${valueText(value, 100)}`);
  }
  if (environment) out.push("    environment", `      ${environment}`);
  return out;
}
