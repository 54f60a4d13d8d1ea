// The message board as files, for programs: they write board/outbox/NAME/*.json and read
// board/inbox/NAME/NNNNNN.json. All programs of a sandbox share one user, so the sender of a file is the folder in
// which it lay, which any member could have chosen. Everything in an outbox is hostile: links, huge files and broken
// JSON are refused and recorded.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { readFormat } from "@mlrb/formats/read-format";
import { anyText, oneOf, openObject } from "@mlrb/formats/schema";
import { canonicalJson } from "@mlrb/kit/json-file";
import { inside } from "../attempt/workspace.ts";
import type { BoardMessage } from "../scaffold/scaffold.ts";
import { boardLimits, isSame, type MessageBoard } from "./message-board.ts";

const messageFile = openObject({ to: anyText, purpose: oneOf("message", "hand-over"), text: anyText }, [
  "to",
  "text",
]);
/** JSON may write a byte of text as six. */
const fileBytesMax = 6 * boardLimits.messageBytes + 4096;
/** Of one member in one look, so that none keeps the others from being heard. */
const filesMax = 200;

const folderOf = (box: "inbox" | "outbox", name: string) => `${inside.board}/${box}/${name}`;

export type BoardFilesOptions = {
  sandbox: Pick<Sandbox, "put" | "drain">;
  board: MessageBoard;
  /** Of the members. */
  names: readonly string[];
  /** A host folder for temporary files. */
  scratch: string;
};

export class BoardFiles {
  readonly #options: BoardFilesOptions;
  /** How many messages each member has in its inbox. */
  readonly #delivered: Map<string, number>;
  /** Entries of each outbox that could not be removed. */
  readonly #left: Map<string, Set<string>>;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: BoardFilesOptions) {
    this.#options = options;
    this.#delivered = new Map(options.names.map((name) => [name, 0]));
    this.#left = new Map(options.names.map((name) => [name, new Set()]));
  }

  /**
   * To be called before programs run. After a restart the inboxes hold what the trajectory has, and a file whose
   * message was recorded but that was not yet removed is not sent again.
   */
  async open(earlier: readonly BoardMessage[]): Promise<void> {
    const { names, sandbox, scratch } = this.#options;
    const empty = join(scratch, "board");
    await mkdir(empty, { recursive: true });
    for (const name of names) {
      for (const box of ["inbox", "outbox"] as const) await this.#put(empty, folderOf(box, name));
      const all = {
        bytesMax: 0,
        filesMax: 2 * boardLimits.messagesMax,
        without: new Set<string>(),
      };
      await sandbox.drain?.({ ...all, inside: folderOf("inbox", name), take: () => {} });
      const last = earlier.findLast(({ from }) => from === name);
      await this.#drain(name, (message) => last === undefined || !isSame(message, last));
    }
    await this.look();
  }

  /** Sends what lies in the outboxes, then fills the inboxes. One look at a time. Rejects where the record cannot be kept. */
  look(): Promise<void> {
    const next = this.#turn.then(async () => {
      for (const name of this.#options.names) await this.#drain(name);
      for (const name of this.#options.names) await this.#deliver(name);
    });
    this.#turn = next.catch(() => {}); // the caller gets the error
    return next;
  }

  async #drain(from: string, isNew: (message: BoardMessage) => boolean = () => true): Promise<void> {
    const { sandbox, board } = this.#options;
    await sandbox.drain?.({
      ...{ inside: folderOf("outbox", from), bytesMax: fileBytesMax, filesMax },
      without: this.#left.get(from)!,
      take: (name, content) => {
        const message = content instanceof Uint8Array ? messageIn(from, content) : content.refused;
        const why = typeof message === "string" ? message : isNew(message) ? board.send(message) : undefined;
        if (why !== undefined) board.refused(from, `${JSON.stringify(name.slice(0, 100))}: ${why}`);
      },
    });
  }

  /** What a full disk or a replaced folder refuses is tried again at the next look. */
  async #deliver(name: string): Promise<void> {
    const { board, scratch } = this.#options;
    const received = board.receivedBy(name);
    for (let at = this.#delivered.get(name)!; at < received.length; at++) {
      const number = at + 1;
      const file = join(scratch, "board-message");
      await writeFile(file, `${canonicalJson({ number, ...received[at]! })}\n`);
      const path = `${folderOf("inbox", name)}/${String(number).padStart(6, "0")}.json`;
      if (!(await this.#put(file, path))) return;
      this.#delivered.set(name, number);
    }
  }

  /** False if a program stands in the way. */
  #put(from: string, to: string): Promise<boolean> {
    return this.#options.sandbox.put(from, to, { whole: true }).then(
      () => true,
      () => false,
    );
  }
}

function messageIn(from: string, bytes: Uint8Array): BoardMessage | string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return "not UTF-8";
  }
  const reading = readFormat(messageFile, text);
  if (reading.kind === "unreadable") return reading.cause.slice(0, 500);
  const { to, purpose = "message", text: said } = reading.value;
  return { from, to, purpose, text: said };
}
