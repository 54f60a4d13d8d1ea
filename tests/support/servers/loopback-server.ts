// An HTTP server on 127.0.0.1 at a free port, for tests.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class LoopbackServer {
  readonly #server: Server;

  constructor(answer: RequestListener) {
    this.#server = createServer(answer);
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return this;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Once it has started. */
  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
}
