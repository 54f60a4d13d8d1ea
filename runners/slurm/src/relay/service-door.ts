// A port of the host that submits, which leads to a service on a node over its job's channel. Open to this user only.
// The port stays open between two jobs of the service: a program of another user could listen there otherwise, and answer
// in the place of the model.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { joinStreams } from "@mlrb/kit/services/join-streams";
import { isOwnConnection } from "@mlrb/kit/services/own-connection";
import { sayAway } from "@mlrb/kit/services/say-away";
import { answerMs } from "./end-if-silent.ts";
import { openStream, streamsOver } from "./streams.ts";

export class ServiceDoor {
  readonly #server: Server;
  readonly #callers = new Set<Socket>();
  readonly #isOwn: (caller: Socket) => boolean;
  #session: ClientHttp2Session | undefined;

  /** Rejects if the port cannot be listened at. */
  readonly listening: Promise<void>;

  constructor(port: number, isOwn = isOwnConnection) {
    this.#isOwn = isOwn;
    this.#server = createServer({ allowHalfOpen: true }, (caller) => this.#pass(caller));
    this.#server.listen(port, "127.0.0.1").unref();
    // a call that the system could not hand over: later calls come, and its caller reads an error
    this.#server.on("error", () => {});
    this.listening = once(this.#server, "listening").then(() => {});
    this.listening.catch(() => {});
  }

  /** Leads to the other side of the channel until the channel ends. */
  async serve(channel: Duplex): Promise<void> {
    const session = streamsOver(channel, {
      answerMs,
      ready: () => {
        this.#session = session;
      },
    });
    await new Promise<void>((closed) => session.once("close", () => closed()));
    if (this.#session === session) this.#session = undefined;
  }

  /** Ends the calls under way. Later ones read that the service is away. */
  hangUp(): void {
    for (const caller of this.#callers) caller.destroy();
  }

  close(): void {
    this.#server.close();
    this.hangUp();
  }

  #pass(caller: Socket): void {
    caller.on("error", () => {});
    if (!this.#isOwn(caller)) return void caller.destroy();
    this.#callers.add(caller.once("close", () => this.#callers.delete(caller)));
    const session = this.#session;
    if (!session || session.destroyed || session.closed) sayAway(caller);
    else joinStreams(caller, openStream(session));
  }
}
