// Unpacks a stream and gives all that comes before damage. A stream of Node's drops what it holds when it fails.
import type { Duplex } from "node:stream";
import { finished } from "node:stream/promises";

export type Pieces = AsyncIterable<Buffer>;

/** The error of damage comes after what was unpacked before it. */
export async function* unpacked(packed: Pieces, unpack: Duplex): AsyncGenerator<Buffer> {
  const given: Buffer[] = [];
  let failing = () => {};
  unpack.on("data", (piece) => given.push(piece)).on("error", () => failing());
  let read = 0;
  try {
    for await (const piece of packed)
      for (let at = 0; at < piece.length; ) {
        // damage costs what is unpacked with it, so little at once
        const slice = piece.subarray(at, at + Math.min(1024, Math.max(64, read >> 4)));
        await new Promise<void>((done) => {
          failing = done; // a write that fails may not call back
          unpack.write(slice, () => done());
        });
        if (unpack.errored) throw unpack.errored;
        yield* given.splice(0);
        at += slice.length;
        read += slice.length;
      }
    unpack.end();
    await finished(unpack);
  } catch (error) {
    yield* given;
    throw error;
  }
  yield* given;
}
