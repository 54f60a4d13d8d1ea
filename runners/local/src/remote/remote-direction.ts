// Taking results or sending them, until the server has failed too often. The two are apart: a server may refuse
// only what is sent.

import type { TroubleKind } from "@mlrb/kit/http/http-trouble";
import { RemoteClient } from "./remote-client.ts";

/** Failures in a row after which a server is left alone. */
const failuresMax = 3;

export class RemoteDirection extends RemoteClient {
  #isLeft = false;
  #failures = 0;

  get isLeft(): boolean {
    return this.#isLeft;
  }

  works(): void {
    this.#failures = 0;
  }

  /** Asks nothing more. Returns false if it was left before. */
  leave(): boolean {
    const was = this.#isLeft;
    this.#isLeft = true;
    return !was;
  }

  /** Returns whether the server is left alone because of this failure. */
  fails(kind: TroubleKind): boolean {
    if (kind === "missing") return false; // it forgot a content, and answers
    this.#failures++;
    return (kind === "refused" || this.#failures >= failuresMax) && this.leave();
  }
}
