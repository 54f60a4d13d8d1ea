// The paid calls of a judge: the model's client with the retries, waits and charges of attempts, under the cap of
// the run. A call is charged to the cap before its answer is returned.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { processName } from "@mlrb/kit/processes/process-name";
import { AttemptClock } from "../../attempt/attempt-clock.ts";
import { AttemptMeter } from "../../attempt/attempt-meter.ts";
import { secretOf } from "../../attempt/llm-agent.ts";
import { aiSdkClient } from "../../model/ai-sdk-client.ts";
import { askModel } from "../../model/ask-model.ts";
import { failureOf } from "../../model/cause-of.ts";
import { attemptPurse } from "../../spending/attempt-purse.ts";
import { outputTokensMaxOf } from "../../spending/call-charge.ts";
import { priceBook } from "../../spending/prices.ts";
import type { AskRubric } from "./ask-rubric.ts";

type Paying = {
  env: NodeJS.ProcessEnv;
  /** Path of purse.json, with the cap and the prices of the run; undefined: no cap. */
  purse: string | undefined;
  signal: AbortSignal;
};

/** Throws without the key or the purse. The returned function throws `ProviderTrouble`, also over the cap. */
export function judgeModel(model: ModelSpec, paying: Paying): AskRubric["call"] {
  const { env, purse: path, signal } = paying;
  const client = aiSdkClient(model, secretOf(model, env));
  const purse = path === undefined ? undefined : attemptPurse(path, `judge-${processName}`);
  if (path !== undefined && !purse) throw new Error(`there is no ${path}, so the cap of the run is unknown`);
  const { dollarsOf } = purse?.prices ?? priceBook([]);
  const begin = performance.now();
  const clock = new AttemptClock({
    sandbox: { freeze: async () => false, thaw: async () => true }, // nothing runs that could be frozen
    startedWall: Date.now(),
    sinceStart: () => performance.now() - begin,
  });
  const limits = { timeMs: Number.POSITIVE_INFINITY }; // so `ask` is never over a budget of its own
  const meter = new AttemptMeter({ limits, clock, ...(purse && { cap: purse.cap }) });
  const outputTokensMax = outputTokensMaxOf(model);
  return async (messages) => {
    let dollars: number | null = 0;
    const ask = askModel({
      ...{ client, meter, signal, digest: () => "" }, // no trajectory records it
      dollarsOf: (usage) => (model.free ? 0 : dollarsOf(usage, model.provider, model.id)),
      ...(outputTokensMax !== undefined && { outputTokensMax }),
      write(event) {
        // as in a ledger: a failed try without usage may have cost nothing
        if (event.event === "model-call" || (event.event === "model-try" && event.usage !== null))
          dollars = dollars === null || event.dollars === null ? null : dollars + event.dollars;
      },
    });
    const result = await ask("judge", messages, []);
    if (result.kind === "answered") return { ...result, dollars };
    const detail = "the request is longer than the model's context";
    return { kind: "failed", failure: failureOf("too-long", { detail }) };
  };
}
