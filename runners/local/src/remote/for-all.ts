// Does something for many items, a few at once. The first failure ends all others.
type Options = { atOnce: number; signal: AbortSignal };

/** Returns the results in the order of `items`, or throws the first error once nothing runs any more. */
export async function forAll<Item, Result>(
  items: readonly Item[],
  { atOnce, signal }: Options,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const left = items.entries();
  const results: Result[] = [];
  const worker = async () => {
    for (const [at, item] of left) {
      both.throwIfAborted();
      results[at] = await work(item, both);
    }
  };
  const workers = Array.from({ length: atOnce }, () => worker().catch((error) => failed.abort(error)));
  await Promise.all(workers);
  signal.throwIfAborted();
  failed.signal.throwIfAborted(); // the first failure
  return results;
}
