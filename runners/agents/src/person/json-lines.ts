// JSON lines of a socket whose other end is not trusted, each checked by its schema.
import type { Socket } from "node:net";
import { readFormat } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";

const lineMax = 8 << 20;

/** Calls `take` with each line that follows `schema`. Ends the connection at another line, or at one of over 8 MiB. */
export function onJsonLines<const Schema extends object>(
  socket: Socket,
  schema: () => Schema,
  take: (line: TypeOf<Schema>) => void,
): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    const lines = (rest + part).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const reading = readFormat(schema(), line);
      if (reading.kind === "unreadable") return void socket.destroy();
      take(reading.value);
    }
    if (rest.length > lineMax) socket.destroy();
  });
  socket.on("error", () => {}); // its close follows
}

export function sendLine(socket: Socket | undefined, line: object): void {
  if (socket?.writable) socket.write(`${JSON.stringify(line)}\n`);
}
