// A server for programs that count as hostile: bounded headers, connections and times, and no tunnels.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** `failed` is called with what `serve` rejects with. */
export function guardedServer(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  failed: (error: unknown) => void,
): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 << 10,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 90_000, // longer than a program is frozen for a 429: its connection must still be open then
      noDelay: true,
    },
    (request, response) => {
      for (const stream of [request, response]) stream.on("error", () => {}); // a program that went away
      serve(request, response).catch(failed);
    },
  );
  server.maxConnections = 128;
  for (const event of ["connect", "upgrade"]) server.on(event, (_, socket: Socket) => socket.destroy());
  server.on("clientError", (_, socket: Socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  return server;
}
