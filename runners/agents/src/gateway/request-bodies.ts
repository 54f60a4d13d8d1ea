// Reads the bodies of a program's requests. One body and all open bodies together have a limit in bytes.
import type { IncomingMessage } from "node:http";
import type { Refusal } from "./provider-error.ts";

export type RequestBody = {
  bytes: Buffer;
  /** To be called once the request is done with. */
  release(): void;
};

const bodyMax = 32 << 20;
/** Of all bodies that are being read or sent. */
const bodiesMax = 128 << 20;

export class RequestBodies {
  #held = 0;

  /** `gone`: the program went away. */
  async read(request: IncomingMessage): Promise<RequestBody | { refused: Refusal } | "gone"> {
    const { headers } = request;
    if ((headers["content-encoding"] ?? "identity") !== "identity")
      return { refused: { status: 400, detail: "bodies are taken uncompressed only" } };
    const tooLarge = { refused: { status: 413, detail: `a body of more than ${bodyMax} bytes` } };
    const parts: Buffer[] = [];
    let bytes = 0;
    const fits = (more: number) => bytes + more <= bodyMax && this.#held + more <= bodiesMax;
    const release = () => {
      this.#held -= bytes;
    };
    if (!fits(Number(headers["content-length"] ?? 0))) return tooLarge;
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        if (!fits(part.length)) {
          release();
          return tooLarge;
        }
        parts.push(part);
        bytes += part.length;
        this.#held += part.length;
      }
    } catch {
      release();
      return "gone";
    }
    return { bytes: Buffer.concat(parts), release };
  }
}
