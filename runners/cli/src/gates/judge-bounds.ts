// What stages that pay for answers can cost at most, by judge: from their params and the known prices. Answers that
// are kept already count too: their store is asked only when a stage runs.
import { judgeBound } from "@mlrb/agents/judge/judge-bound";
import { priceHelp } from "@mlrb/agents/model/agent-models";
import { boundUsage } from "@mlrb/agents/spending/call-charge";
import type { PriceBook } from "@mlrb/agents/spending/prices";
import type { Instance } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { llmSpecs } from "@mlrb/formats/declared/agent-preset";
import { rubricFile } from "@mlrb/formats/declared/rubric";
import { checkFormat } from "@mlrb/formats/read-format";
import * as t from "@mlrb/formats/schema";
import { bookOf } from "./price-book.ts";
import { total } from "./spent.ts";

const { name, questions } = rubricFile.properties;
const format = t.wholeObject({
  model: llmSpecs.model,
  rubric: t.wholeObject({ name, questions }),
  votes: t.positiveInteger,
  extractCharactersMax: t.positiveInteger,
});
type JudgeAsk = t.TypeOf<typeof format>;

/** What a stage that pays for answers asks; null: its params do not say; undefined: another stage. */
export function judgeAsk({ stage, action }: Pick<Instance, "stage" | "action">): JudgeAsk | null | undefined {
  if (!stage.spec.paidAnswers) return undefined;
  const reading = checkFormat(format, action.params);
  return reading.kind === "ok" ? reading.value : null;
}

/** The model that an instance pays; undefined where it pays none. */
export function paidJudge(instance: Pick<Instance, "stage" | "action">) {
  const model = judgeAsk(instance)?.model;
  // recorded answers were paid once
  return model === undefined || model.free || model.provider === "recorded" ? undefined : model;
}

/** Whether someone may bill an instance for answers. */
export function paysForAnswers(instance: Pick<Instance, "stage" | "action">): boolean {
  return judgeAsk(instance) === null || paidJudge(instance) !== undefined;
}

export type JudgeBound = {
  judge: string;
  provider: string | null;
  /** Attempts whose text it receives. */
  attempts: number;
  votes: number;
  stages: number;
  /** Of all its answers together; null: unknown. */
  dollars: number | null;
  /** How to give a missing price. */
  help?: string;
};

/** `given`: prices of --price. */
export function judgeBounds(starts: Instance[], given: string[]): JudgeBound[] | Diagnostic {
  const asks = starts.filter((one) => judgeAsk(one) !== undefined);
  const prices = asks.some(paysForAnswers) ? bookOf(given) : undefined;
  if (prices !== undefined && "code" in prices) return prices;
  return [...Map.groupBy(asks, ({ axes, stage }) => String(axes.judge ?? stage.name))].map(([judge, own]) => {
    const ask = judgeAsk(own[0]!);
    const dollars = total(own.map((one) => dollarsOf(one, prices)));
    const model = paidJudge(own[0]!);
    return {
      ...{ judge, provider: ask?.model.provider ?? null, votes: ask?.votes ?? 1, stages: own.length },
      attempts: new Set(own.map(({ inputs }) => inputs.map(({ from }) => from).join())).size,
      dollars,
      ...(dollars === null && model && { help: priceHelp([{ ...model, free: false }]) }),
    };
  });
}

function dollarsOf(instance: Instance, prices: PriceBook | undefined): number | null {
  if (!paysForAnswers(instance)) return 0;
  const ask = judgeAsk(instance);
  if (!ask || prices === undefined) return null;
  const { provider, id } = ask.model;
  return prices.dollarsOf(boundUsage(judgeBound(ask)), provider, id);
}

export function judgeLines(bounds: JudgeBound[]): string[] {
  return bounds.map(({ judge, provider, attempts, votes, dollars, help }) => {
    const receives = `provider ${provider ?? "unknown"} receives the text of ${counted(attempts, "attempt")}`;
    const most = dollars === null ? "dollars without a bound" : `at most ${dollars.toFixed(2)} dollars`;
    return `judge ${judge} (${receives}): ${counted(votes, "vote")}, ${most}${help === undefined ? "" : ` (${help})`}`;
  });
}
