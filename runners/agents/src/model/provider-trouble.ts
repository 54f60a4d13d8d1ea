// The model cannot be had: the provider's, the operator's or the harness's failure, not the agent's. An attempt
// that ends by it is not measured.
import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import { modelCauses } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";

export class ProviderTrouble extends Error {
  override readonly cause: ModelCause;
  readonly whose: FailureOwner;

  constructor(model: { provider: string; id: string }, failure: ModelFailure, tries: Tries) {
    const wayOut = modelCauses[failure.cause].wayOut ?? "run the pipeline again";
    super(
      `${model.provider} ${model.id}: ${failure.cause}: ${failure.detail}; ${triesWords(tries)}; ${wayOut}`,
    );
    this.cause = failure.cause;
    this.whose = failure.whose;
  }
}

export type Tries = { tries: number; waitedMs: number };

function triesWords({ tries, waitedMs }: Tries): string {
  if (tries === 1) return "nothing was measured";
  const minutes = Math.round(waitedMs / 60_000);
  return `tried ${tries} times over ${minutes < 1 ? `${Math.round(waitedMs / 1000)} s` : `${minutes} min`}, so nothing was measured`;
}
