// Connects this terminal with the shell of an attempt of a person, until the person leaves or the attempt ends.
import type { Socket } from "node:net";
import { onJsonLines, sendLine } from "@mlrb/agents/person/json-lines";
import { deskLine, type PersonHello } from "@mlrb/formats/attempt/person";

export type Detached =
  | { kind: "ended"; how: string }
  | { kind: "left" | "paused" }
  /** `why`: of the desk, or that the connection was cut. */
  | { kind: "refused"; why: string };

/** Ctrl-] */
const menuKey = 0x1d;
const menu =
  "\r\n[p] pause: clock and programs stop   [l] leave: both go on   [any other key] back to the shell\r\n";

/** The socket stays open after an end: the desk waits for what the person declares. */
export async function attachTerminal(socket: Socket, hello: PersonHello): Promise<Detached> {
  const { stdin, stdout } = process;
  const { promise, resolve } = Promise.withResolvers<Detached>();
  let isPausing = false;
  onJsonLines(
    socket,
    () => deskLine,
    ({ out, said, ended, refused }) => {
      if (out !== undefined) stdout.write(Buffer.from(out, "base64"));
      if (said !== undefined) stdout.write(`\r\n${said}\r\n`);
      if (said !== undefined) isPausing = false;
      if (ended !== undefined) resolve({ kind: "ended", how: ended });
      if (refused !== undefined) resolve({ kind: "refused", why: refused });
    },
  );
  socket.on("close", () =>
    resolve(
      isPausing ? { kind: "paused" } : { kind: "refused", why: "the connection to the attempt was cut" },
    ),
  );
  let inMenu = false;
  const type = (bytes: Buffer) => {
    const key = String.fromCharCode(bytes[0]!);
    if (inMenu) {
      inMenu = false;
      if (key === "l") return resolve({ kind: "left" });
      isPausing = key === "p";
      if (isPausing) sendLine(socket, { pause: true });
    } else if (bytes[0] === menuKey) {
      inMenu = true;
      stdout.write(menu);
    } else sendLine(socket, { in: bytes.toString("base64") });
  };
  const tellSize = () => sendLine(socket, { size: [stdout.columns || 80, stdout.rows || 24] });
  sendLine(socket, hello);
  tellSize();
  stdin.setRawMode(true).on("data", type).resume();
  stdout.on("resize", tellSize);
  const detached = await promise;
  stdout.off("resize", tellSize);
  stdin.off("data", type).setRawMode(false).pause();
  stdout.write("\x1b[?2004l\x1b[0m\r\n"); // what programs may have left on
  if (detached.kind !== "ended") socket.destroy();
  return detached;
}
