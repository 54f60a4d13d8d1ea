// Charges and records the tries of a model call, a scaffold's or a program's.
import type { ModelCallEvent, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { HeldCall, Meter } from "../attempt/meter.ts";
import { type CallBound, type CallCharge, callCharge, type Pricing } from "../spending/call-charge.ts";
import { modelCauses } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";

type Books = {
  meter: Pick<Meter, "charge">;
  write(event: TrajectoryEvent): void;
  /** Whether the attempt may reach a network in other ways. */
  network?: boolean;
};

/** A try of a call: the most that it can cost, and its reservation. */
type Try = { bound: CallBound; held: HeldCall; pricing: Pricing };

type RecordedAnswer = Omit<ModelCallEvent, "event" | "dollars">;

/** `tokens`: see `FailureCause`. */
export function settleAnswer(
  { meter, write, network }: Books,
  { bound, held, pricing }: Try,
  { usage, ...answer }: RecordedAnswer,
  tokens: "none" | "maybe" = "maybe",
): CallCharge {
  const { provider, model, answeredBy, fingerprint, reach } = answer;
  const charge = callCharge({ usage, answered: true, tokens }, bound, pricing.priced, pricing.most);
  const served = { provider, model, answeredBy, ...(fingerprint !== undefined && { fingerprint }) };
  meter.charge({ ...charge, served, ...reached(reach, network) }, held);
  write({ event: "model-call", ...answer, usage: charge.usage, dollars: charge.dollars });
  return charge;
}

/**
 * Charges a failed try at once, without `held` not at all. The returned function writes the event, once it is
 * known after how many ms another try follows (null: none). `reach`: of the part of an answer that came.
 */
export function settleFailure(
  { meter, write, network }: Books,
  { bound, held, pricing }: Omit<Try, "held"> & { held: HeldCall | undefined },
  facts: { by: string; call: number; try: number },
  failure: ModelFailure,
  reach?: string,
): (waitMs: number | null) => void {
  const { cause, whose, detail, usage } = failure;
  const { tokens } = modelCauses[cause];
  const charge = callCharge({ usage, answered: false, tokens }, bound, pricing.priced, pricing.most);
  if (held) meter.charge({ ...charge, ...reached(reach, network) }, held);
  const { dollars } = charge;
  // without a report of the provider there is no usage, though the try is charged
  const counted = usage === null ? null : charge.usage;
  return (waitMs) =>
    write({ event: "model-try", ...facts, cause, whose, detail, usage: counted, dollars, waitMs });
}

function reached(reach: string | undefined, network: boolean | undefined) {
  return reach !== undefined && !network && { reached: reach };
}
