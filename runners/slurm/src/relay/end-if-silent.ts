// Ends a session of HTTP/2 whose other side does not answer.
import type { Http2Session } from "node:http2";

/** A channel that does not answer for this long is taken for broken. */
export const answerMs = 30_000;

export function endIfSilent(session: Http2Session, afterMs: number): void {
  let silent = false;
  const pings = setInterval(() => {
    if (silent || session.destroyed) return session.destroy();
    silent = true;
    session.ping(() => {
      silent = false;
    });
  }, afterMs).unref();
  session.once("close", () => clearInterval(pings));
}
