// `pipeline explain`: why an instance would run or be reused, part by part, and the chain above it.
import { reasonWords } from "@mlrb/core/key/reasons";
import { instancesMatching } from "@mlrb/core/plan/select-instances";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { bind } from "@mlrb/local/decide/bind-inputs";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { rememberedRequest } from "../request/remembered-request.ts";
import { printJson } from "../show/print-json.ts";
import { valueText } from "../show/shorten.ts";

export type ExplainOptions = {
  pipeline: string;
  profile?: string;
  set: string[];
  root?: string;
  json: boolean;
};

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
    process.stderr.write(
      `nothing-selected: no stage instance of ${plan.pipeline} matches "${pattern}"\n  help: ${didYouMean(pattern, ids)}\n`,
    );
    return 2;
  }
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const { previews, results } = await previewPlan(plan, selected, {
    workspace,
    stale: { kind: plan.onStale },
  });
  const byIndex = new Map(previews.map((preview) => [preview.index, preview]));
  const upstream = (index: number): Preview[] => {
    const { inputs, members } = plan.instances[index]!;
    const direct = [...new Set([...inputs, ...members].map(({ from }) => from))];
    return direct.flatMap((from) => {
      const preview = byIndex.get(from);
      return !preview || preview.action === "reuse" ? [] : [...upstream(from), preview];
    });
  };
  for (const instance of wanted) {
    const preview = byIndex.get(instance.index)!;
    const broken = preview.reasons.some(({ kind }) => kind === "cannot-start");
    const read = [...instance.inputs, ...instance.members];
    const known = !broken && read.every(({ from }) => results[from] !== undefined);
    const bound = known ? await bind(instance, { plan, workspace, results }) : undefined;
    const last = workspace.last.get(instance.id);
    const chain = [...new Map(upstream(instance.index).map((one) => [one.index, one])).values()];
    const { action, certain, reasons } = preview;
    if (options.json) {
      const line = {
        event: "explain",
        stage: instance.id,
        action,
        certain,
        reasons,
        key: bound?.key,
        parts: bound?.parts,
        lastKey: last?.key,
        upstream: chain.map((one) => ({
          stage: plan.instances[one.index]!.id,
          action: one.action,
          reasons: one.reasons,
        })),
      };
      printJson(line);
      continue;
    }
    const say = (text: string) => process.stdout.write(`${text}\n`);
    say(`${instance.id}: ${action}${certain ? "" : ", not certain"}`);
    for (const reason of reasons) say(`  because ${reasonWords(reason)}`);
    if (chain.length > 0) say("  upstream");
    for (const one of chain)
      say(`    ${one.action} ${plan.instances[one.index]!.id}: ${one.reasons.map(reasonWords).join("; ")}`);
    if (!bound) {
      if (!broken) say("  its key is not known until its inputs have run");
      continue;
    }
    say(
      `  key ${bound.key}${last ? (last.key === bound.key ? " (as at its last success)" : `\n  was ${last.key} at its last success`) : ""}`,
    );
    const { code, files, inputs, params, axes, env, budget, environment, outputs } = bound.parts;
    for (const [name, part] of Object.entries({ code, files, inputs, params, axes, env, budget, outputs })) {
      const entries = Object.entries(part);
      if (entries.length > 0) say(`    ${name}`);
      for (const [key, value] of entries) say(`      ${key}: ${valueText(value, 100)}`);
    }
    if (environment) say(`    environment\n      ${environment}`);
  }
  return 0;
}
