// Passes a connection on.
import { connect, type NetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { sayAway } from "./say-away.ts";

/** Passes the bytes of each to the other, and ends both with either. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
  one.pipe(other).pipe(one);
}

/** Passes a caller of HTTP on to `address`; a caller of what is not there reads that it is away. */
export function passTo(caller: Duplex, address: NetConnectOpts): void {
  const socket = connect({ ...address, allowHalfOpen: true });
  caller.on("error", () => socket.destroy());
  const away = () => sayAway(caller);
  socket.once("error", away);
  socket.once("connect", () => {
    socket.off("error", away);
    joinStreams(caller, socket);
  });
}
