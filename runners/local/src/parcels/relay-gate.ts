// The socket of model calls on a node without a shared disk. A call goes out once the host that submitted has everything
// that was written before it: if the node dies, at most this call is repeated. While that host is away, calls are answered
// as by a relay that is away: they wait, and cost nothing.
import { connect, createServer, type Server, type Socket } from "node:net";
import { relayErrorHeader } from "@mlrb/core/ports/relay";

/** `to`: the socket of the relay's channel. Each connection carries one call. */
export function relayGate({
  path,
  to,
  flush,
}: {
  path: string;
  to: string;
  flush: () => Promise<void>;
}): Server {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on("error", () => {}); // its end follows
    flush().then(
      () => pass(socket, to),
      (error: Error) => refuse(socket, error),
    );
  });
  return server.listen(path);
}

function pass(socket: Socket, to: string): void {
  const channel = connect({ path: to, allowHalfOpen: true });
  channel.once("connect", () => {
    for (const [one, other] of [
      [socket, channel],
      [channel, socket],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    socket.pipe(channel).pipe(socket);
  });
  channel.once("error", (error) => refuse(socket, error));
}

function refuse(socket: Socket, { message }: Error): void {
  const words = `the host that submitted this job is away: ${message}`;
  const headers = [
    `${relayErrorHeader}: ECONNREFUSED`,
    `${relayErrorHeader}-detail: ${encodeURIComponent(words.slice(0, 500).toWellFormed())}`,
    ...["content-length: 0", "connection: close"],
  ];
  socket.resume().end(`HTTP/1.1 502 Bad Gateway\r\n${headers.join("\r\n")}\r\n\r\n`);
}
