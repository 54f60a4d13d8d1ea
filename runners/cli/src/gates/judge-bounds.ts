// What stages that pay for answers cost, by judge: from their params and the known prices, as if extracts were full.
// Answers that are kept already count too, which its line says: their store is asked only when a stage runs.
import { judgeUsage } from "@mlrb/agents/judge/judge-usage";
import { boundUsage } from "@mlrb/agents/spending/call-charge";
import type { PriceBook } from "@mlrb/agents/spending/prices";
import type { Instance } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { extractsParams, judgeParams } from "@mlrb/formats/declared/judge-params";
import { checkFormat } from "@mlrb/formats/read-format";
import * as t from "@mlrb/formats/schema";
import { bookOf } from "./dollar-bounds.ts";
import { total } from "./spent.ts";

/** Without `extracts` a stage asks about one. */
const format = t.wholeExcept(["extracts"], { ...judgeParams, ...extractsParams });
type JudgeAsk = t.TypeOf<typeof format>;
type Asking = Pick<Instance, "stage" | "action">;

/** What a stage that pays for answers asks; null: its params do not say; undefined: another stage. */
export function judgeAsk({ stage, action }: Asking): JudgeAsk | null | undefined {
  if (!stage.spec.paidAnswers) return undefined;
  const reading = checkFormat(format, action.params);
  return reading.kind === "ok" ? reading.value : null;
}

/** The model that an instance pays; undefined where it pays none. */
export function paidJudge(instance: Asking): ModelSpec | undefined {
  const model = judgeAsk(instance)?.model;
  return model?.free || model?.provider === "recorded" ? undefined : model; // recorded answers were paid once
}

/** Whether someone may bill an instance for answers. */
export function paysForAnswers(instance: Asking): boolean {
  return judgeAsk(instance) === null || paidJudge(instance) !== undefined;
}

export type JudgeBound = Exclude<ReturnType<typeof judgeBounds>, Diagnostic>[number];

/** `given`: prices of --price. */
export function judgeBounds(starts: Instance[], given: string[]) {
  const asks = starts.filter(({ stage }) => stage.spec.paidAnswers);
  const prices = asks.some(paysForAnswers) && bookOf(given);
  if (prices && "code" in prices) return prices;
  return [...Map.groupBy(asks, ({ axes, stage }) => String(axes.judge ?? stage.name))].map(([judge, own]) => {
    const ask = judgeAsk(own[0]!);
    return {
      ...{ judge, provider: ask?.model.provider ?? null, votes: ask?.votes ?? null, stages: own.length },
      /** Whose text it receives; a check on labelled trajectories has none. */
      attempts: new Set(own.flatMap(({ inputs }) => inputs.map(({ from }) => from).join() || [])).size,
      // of all its answers together; null: unknown
      dollars: total(own.map((one) => (prices && paysForAnswers(one) ? dollarsOf(one, prices) : 0))),
    };
  });
}

function dollarsOf(instance: Instance, prices: PriceBook): number | null {
  const ask = judgeAsk(instance);
  if (!ask) return null;
  const { extracts = 1, extractCharactersMax: characters, model, ...of } = ask;
  const dollars = prices.dollarsOf(boundUsage(judgeUsage({ ...of, characters })), model.provider, model.id);
  return dollars === null ? null : dollars * extracts;
}

export function judgeLines(bounds: JudgeBound[]): string[] {
  return bounds.map(({ judge, provider, attempts, votes, dollars }) => {
    const whose = attempts === 0 ? "labelled trajectories" : counted(attempts, "attempt");
    const receives =
      provider === "recorded"
        ? "recorded answers, nothing is sent"
        : `provider ${provider ?? "unknown"} receives the text of ${whose}`;
    const cost =
      dollars === null ? "unknown dollars: add --price" : `up to about ${dollars.toFixed(2)} dollars`;
    const kept = dollars ? "; answers on disk are not bought again" : "";
    return `judge ${judge} (${receives}): ${counted(votes ?? 1, "vote")}, ${cost}${kept}`;
  });
}
