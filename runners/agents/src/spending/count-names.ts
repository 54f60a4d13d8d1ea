// Counts the calls by names that providers and programs report: the models that answered, and what else was
// reached.
import { isDeepStrictEqual } from "node:util";
import type { ServedModel } from "@mlrb/formats/attempt/ledger";
import type { Spending } from "../attempt/meter.ts";

/** A provider can invent any number of names. */
const reachedNamesMax = 10;
const servedModelsMax = 20;
const servedNameMax = 200;

export function countReached(spent: Spending, name: string): void {
  const { calls, what } = spent.reached ?? { calls: 0, what: [] };
  const isNew = !what.includes(name) && what.length < reachedNamesMax;
  spent.reached = { calls: calls + 1, what: isNew ? [...what, name] : what };
}

export function countServed(
  spent: Spending,
  { provider, model, answeredBy, fingerprint }: Omit<ServedModel, "calls">,
): void {
  const named = {
    ...{ provider, model, answeredBy: answeredBy?.slice(0, servedNameMax) ?? null },
    ...(fingerprint !== undefined && { fingerprint: fingerprint.slice(0, servedNameMax) }),
  };
  spent.served ??= [];
  const all = spent.served;
  const same = all.find(({ calls: _, ...known }) => isDeepStrictEqual(known, named));
  if (same) same.calls++;
  else if (all.length < servedModelsMax) all.push({ ...named, calls: 1 });
}
