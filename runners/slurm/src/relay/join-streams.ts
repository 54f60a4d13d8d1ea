// Passes a connection on.
import type { Duplex } from "node:stream";

/** Passes the bytes of each to the other, and ends both with either. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
  one.pipe(other).pipe(one);
}
