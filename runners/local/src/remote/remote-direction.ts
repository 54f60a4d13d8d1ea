// Taking results or sending them, until the server has failed too often. The two are apart: a server may refuse only
// what is sent.

import type { TroubleKind } from "@mlrb/kit/http/http-trouble";
import type { RemoteClient } from "./remote-client.ts";

/** Failures in a row after which a server is left alone. */
const failuresMax = 3;

export class RemoteDirection {
  readonly client: RemoteClient;
  #isClosed = false;
  #failures = 0;

  constructor(client: RemoteClient) {
    this.client = client;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  works(): void {
    this.#failures = 0;
  }

  /** Returns false if it was closed before. */
  close(): boolean {
    const was = this.#isClosed;
    this.#isClosed = true;
    return !was;
  }

  /** Returns whether this failure closed the direction. */
  fails(kind: TroubleKind): boolean {
    if (kind === "missing") return false; // it forgot a content, and answers
    this.#failures++;
    return (kind === "refused" || this.#failures >= failuresMax) && this.close();
  }
}
