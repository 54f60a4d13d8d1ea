// Words for which models answered, and for a change of model or configuration during an attempt or between the
// attempts of one agent. A provider may move an alias to another model, or change the configuration behind a dated
// id. Also for an attempt whose provider searched or fetched although the attempt has no network. Pure.
import type { ModelSpending, ServedModel } from "@mlrb/formats/attempt/ledger";

/** `gpt-4o as gpt-4o-2024-08-06 fp_1 (12 calls), gpt-4o-2024-11-20 (1 call)`: each requested model once. */
export function servedWords(served: readonly ServedModel[]): string {
  return byRequest(served)
    .map((same) => {
      const named = same.map((one) => `${servedName(one)} (${one.calls} call${one.calls === 1 ? "" : "s"})`);
      return `${same[0]!.model} as ${named.join(", ")}`;
    })
    .join("; ");
}

/** The entries of requested models that more than one model or configuration answered. Missing names are no change. */
export function changedModels(served: readonly ServedModel[]): ServedModel[] {
  return byRequest(served).flatMap((same) => {
    const named = (names: (string | null | undefined)[]) =>
      new Set(names.filter((name) => name != null)).size;
    const models = named(same.map(({ answeredBy }) => answeredBy));
    const configurations = named(same.map(({ fingerprint }) => fingerprint));
    return models > 1 || configurations > 1 ? same : [];
  });
}

/** Entries that differ only in their calls become one. */
export function mergedServed(served: readonly ServedModel[]): ServedModel[] {
  const groups = Map.groupBy(served, ({ calls: _, ...named }) =>
    JSON.stringify(Object.entries(named).sort()),
  );
  return [...groups.values()].map((same) => ({
    ...same[0]!,
    calls: same.reduce((sum, { calls }) => sum + calls, 0),
  }));
}

function byRequest(served: readonly ServedModel[]): ServedModel[][] {
  return [...Map.groupBy(served, ({ provider, model }) => JSON.stringify([provider, model])).values()];
}

function servedName({ answeredBy, fingerprint }: ServedModel): string {
  return [answeredBy ?? "unnamed", ...(fingerprint === undefined ? [] : [fingerprint])].join(" ");
}

/** `without a network, 2 answers show searches or tools of the provider (url_citation)`. */
export function reachedWords({ calls, what }: NonNullable<ModelSpending["reached"]>): string {
  const answers = calls === 1 ? "1 answer shows" : `${calls} answers show`;
  return `without a network, ${answers} searches or tools of the provider (${what.join(", ")})`;
}
