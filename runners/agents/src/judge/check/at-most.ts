// Limits how many calls of a function run at once. Providers refuse bursts, and a refused call is a lost answer.
import PQueue from "p-queue";

/** `call`, of which at most `many` run at once, in the order in which they came. */
export function atMost<Arguments extends unknown[], Result>(
  many: number,
  call: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  const queue = new PQueue({ concurrency: many });
  return (...given) => queue.add(() => call(...given));
}
