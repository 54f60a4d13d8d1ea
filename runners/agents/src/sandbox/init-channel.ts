// The protocol between the supervisor and the first process behind the walls (walls_init.py). A request is a
// length and fields between zero bytes, which no argument or variable can hold. An answer is a kind, a program's
// number, a length and bytes. Only the form of answers is trusted: programs inside cannot reach that end, but
// their output passes through it.
import type { ExecRequest, ExecResult } from "@mlrb/core/ports/sandbox";
import { signalName } from "@mlrb/kit/processes/exit-detail";

export type Answer =
  | { kind: "ready" }
  | { kind: "output"; id: number; stream: "stdout" | "stderr"; bytes: Uint8Array }
  | { kind: "ended"; id: number; result: ExecResult };

/** Throws if a field cannot be a program's argument or variable. */
export function requestBytes(id: number, { argv, cwd, env }: Omit<ExecRequest, "onOutput">): Uint8Array {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const fields = [String(id), cwd, String(argv.length), ...argv, ...variables];
  const odd = fields.find((field) => field.includes("\0"));
  if (odd !== undefined)
    throw new Error(`${JSON.stringify(odd)} holds a zero byte, which no program can be given`);
  const body = Buffer.from(fields.join("\0"));
  const bytes = Buffer.alloc(4 + body.length);
  bytes.writeUInt32BE(body.length);
  body.copy(bytes, 4);
  return bytes;
}

const header = 9;

/** Collects pieces and calls `take` for each complete answer. */
export function answerReader(take: (answer: Answer) => void): (piece: Buffer) => void {
  let pending: Buffer[] = [];
  let held = 0;
  return (piece) => {
    pending.push(piece);
    held += piece.length;
    for (;;) {
      if (held < header) return;
      if (pending[0]!.length < header) pending = [Buffer.concat(pending)];
      const size = pending[0]!.readUInt32BE(5);
      if (held < header + size) return;
      const all = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
      take(answerOf(all[0]!, all.readUInt32BE(1), all.subarray(header, header + size)));
      pending = [all.subarray(header + size)];
      held -= header + size;
    }
  };
}

function answerOf(kind: number, id: number, bytes: Buffer): Answer {
  switch (String.fromCharCode(kind)) {
    case "r":
      return { kind: "ready" };
    case "o":
      return { kind: "output", id, stream: "stdout", bytes };
    case "e":
      return { kind: "output", id, stream: "stderr", bytes };
    case "x":
      return { kind: "ended", id, result: { kind: "exited", code: Number(bytes) } };
    case "s":
      return {
        kind: "ended",
        id,
        result: { kind: "signalled", signal: signalName(Number(bytes)) ?? `signal ${bytes}` },
      };
    case "f":
      return { kind: "ended", id, result: { kind: "not-started", detail: bytes.toString() } };
    default:
      throw new Error(`bug: the first process of a sandbox said ${kind}`);
  }
}
