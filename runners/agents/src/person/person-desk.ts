// Where the terminal of a person reaches the shell of an attempt: a socket of the supervisor outside, one inside the
// walls. The shell goes on while no terminal is attached.
import { createServer, type Socket } from "node:net";
import {
  type DeskLine,
  type PersonDeclared,
  type PersonHello,
  personHello,
  personSocket,
  shellLine,
  terminalLine,
} from "@mlrb/formats/attempt/person";
import { listenPrivately } from "../waiting/desk-socket.ts";
import { waitingRoom } from "../waiting/waiting-room.ts";
import { onJsonLines, sendLine } from "./json-lines.ts";

export type PersonDesk = Awaited<ReturnType<typeof openPersonDesk>>;

export type ShellHandlers = {
  output(bytes: Buffer): void;
  command(text: string): void;
  done(code: number): void;
  pause(): void;
};

/** Shown to a terminal that attaches again. */
const shownMax = 64 << 10;

/** `folder`: the attempt's. `earlier`: the person of an attempt that continues. Rejects if no socket can be made. */
export async function openPersonDesk(folder: string, earlier?: string) {
  let hello: PersonHello | undefined;
  let declared: PersonDeclared | undefined;
  let ended: string | undefined;
  let terminal: Socket | undefined;
  let shell: Socket | undefined;
  let size: number[] | undefined;
  let shown = Buffer.alloc(0);
  let handlers: ShellHandlers | undefined;
  const { wait, wake } = waitingRoom();
  const say = (line: DeskLine) => sendLine(terminal, line);

  const attach = (socket: Socket, asked: PersonHello) => {
    const { person, consent, agreedAt, knowledge } = asked;
    const refuse = (refused: string) => void socket.end(`${JSON.stringify({ refused })}\n`);
    const known = hello?.person ?? earlier;
    if (known !== undefined && known !== person) return refuse("the attempt is another person's");
    if (known === undefined && [consent, agreedAt, knowledge].includes(undefined))
      return refuse("the person has not agreed to the consent text");
    say({ refused: "another terminal was attached" });
    terminal?.end();
    terminal = socket;
    hello ??= asked;
    if (shown.length > 0) say({ out: shown.toString("base64") });
    if (ended !== undefined) say({ ended });
    wake();
  };

  const outside = createServer((socket) => {
    socket.on("close", () => {
      if (terminal === socket) terminal = undefined;
    });
    onJsonLines(
      socket,
      () => (terminal === socket ? terminalLine : personHello),
      (line) => {
        if ("person" in line) return attach(socket, line);
        if (line.size) size = line.size;
        if (line.in !== undefined || line.size) sendLine(shell, { in: line.in, size: line.size });
        if (line.pause) handlers?.pause();
        if (ended !== undefined) declared ??= line.declared;
        wake();
      },
    );
  }).unref();

  const inside = createServer((socket) => {
    if (shell) return void socket.destroy(); // the shell came first; this is a program that it started
    shell = socket;
    if (size) sendLine(shell, { size });
    onJsonLines(
      socket,
      () => shellLine,
      ({ out, command, done }) => {
        if (command !== undefined) handlers?.command(command);
        if (done !== undefined) handlers?.done(done);
        if (out === undefined) return;
        const bytes = Buffer.from(out, "base64");
        shown = Buffer.concat([shown, bytes]).subarray(-shownMax);
        say({ out });
        handlers?.output(bytes);
        if (!terminal || terminal.writableLength < shownMax) return;
        socket.pause(); // a slow terminal must not fill the supervisor's memory
        const resume = () => void socket.resume();
        terminal.once("drain", resume).once("close", resume);
      },
    );
  });

  /** Whether `isThere` holds within `ms`. Rejects when `signal` is aborted. */
  const until = async (isThere: () => boolean, ms: number, signal: AbortSignal | undefined) => {
    const end = performance.now() + ms;
    while (!isThere() && performance.now() < end)
      await wait(Math.min(end - performance.now(), 3_600_000), signal);
    return isThere();
  };

  const { close } = await listenPrivately(outside, folder, personSocket);
  return {
    /** Listens inside the walls for the shell, which is the first to connect. */
    inside,
    say: (said: string) => say({ said }),
    /** Undefined before a person has come. */
    hello: () => hello,
    /** Whether a terminal attached within `ms`. Rejects when `signal` is aborted. */
    greeted: (ms: number, signal: AbortSignal) => until(() => hello !== undefined, ms, signal),
    serve(with_: ShellHandlers) {
      handlers = with_;
    },
    /** Ends the terminal, and resolves when one attaches again, or after `ms`. Rejects when `signal` is aborted. */
    async away(ms: number, signal: AbortSignal | undefined): Promise<void> {
      terminal?.end();
      terminal = undefined;
      await until(() => terminal !== undefined, ms, signal);
    },
    /** Tells the terminal how the attempt ended. Resolves with what the person declares, or with nothing after `ms`. */
    async declaration(how: string, ms: number, signal: AbortSignal | undefined) {
      ended = how;
      say({ ended });
      await until(() => declared !== undefined, ms, signal).catch(() => {});
      terminal?.end();
      return declared;
    },
    /** For the ledger. */
    facts: () => hello && { id: hello.person, ...declared },
    async close(): Promise<void> {
      inside.close();
      shell?.destroy();
      terminal?.destroy();
      await close();
    },
  };
}
