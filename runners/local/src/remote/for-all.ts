// Does something for many items, a few at once. The first failure ends all others.
import PQueue from "p-queue";

type Options = { atOnce: number; signal: AbortSignal };

/** Returns the results in the order of `items`, or throws the first error once nothing runs any more. */
export async function forAll<Item, Result>(
  items: readonly Item[],
  { atOnce, signal }: Options,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const queue = new PQueue({ concurrency: atOnce });
  const ends = await Promise.allSettled(
    items.map((item) =>
      queue.add(async () => {
        both.throwIfAborted();
        try {
          return await work(item, both);
        } catch (error) {
          failed.abort(error); // keeps the first
          throw error;
        }
      }),
    ),
  );
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}
