// The answer of a way to a service that does not lead there now: a provider that is down, whose callers wait. A connection
// that is only closed would count as a call that may have cost tokens.
import type { Duplex } from "node:stream";

const body = JSON.stringify({ error: { message: "the service does not answer yet, or is started again" } });
const answer = [
  "HTTP/1.1 503 Service Unavailable",
  "content-type: application/json",
  `content-length: ${body.length}`,
  "connection: close",
  `\r\n${body}`,
].join("\r\n");

/** To a caller of HTTP whose request may not have been read. */
export function sayAway(caller: Duplex): void {
  caller.on("error", () => {});
  caller.resume(); // unread bytes would reset the connection, and the answer with it
  caller.end(answer);
}
