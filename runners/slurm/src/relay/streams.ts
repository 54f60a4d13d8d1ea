// Connections as streams of one HTTP/2 session over a channel. The node opens them.
import { type ClientHttp2Session, connect, type Http2Session, performServerHandshake } from "node:http2";
import type { Duplex } from "node:stream";

/** Takes the streams that the other side opens, until the channel ends. */
export async function takeStreams(
  channel: Duplex,
  { most, answerMs, take }: { most: number; answerMs: number; take(stream: Duplex): void },
): Promise<void> {
  const session = performServerHandshake(channel, { settings: { maxConcurrentStreams: most } });
  session.on("stream", (stream, headers) => {
    stream.on("error", () => {}); // the stream's own end follows
    if (stream.closed || stream.destroyed) return; // the other side has reset it
    if (headers[":method"] !== "CONNECT") return stream.close();
    stream.respond({ ":status": 200 });
    take(stream);
  });
  endWith(channel, session, answerMs);
  await new Promise<void>((closed) => session.once("close", () => closed()));
}

/** A session in which this side opens the streams. `ready` once the other side has answered. */
export function streamsOver(
  channel: Duplex,
  { answerMs, ready }: { answerMs: number; ready(session: ClientHttp2Session): void },
): ClientHttp2Session {
  const session = connect("http://relay", { createConnection: () => channel });
  endWith(channel, session, answerMs);
  session.once("remoteSettings", () => ready(session));
  return session;
}

export function openStream(session: ClientHttp2Session): Duplex {
  return session.request({ ":method": "CONNECT", ":authority": "relay" });
}

/** A channel that does not answer for this long is taken for broken. */
export const answerMs = 30_000;

/** Ends the session with its channel, or once the other side is silent for this long. */
function endWith(channel: Duplex, session: Http2Session, afterMs: number): void {
  session.on("error", () => {}); // `close` follows
  for (const end of ["end", "close", "error"]) channel.on(end, () => session.destroy());
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
