// The tools by which a model writes to the other members of its team, and reads what they wrote.
import { closedObject, oneOf, partialObject, text } from "@mlrb/formats/schema";
import { refused, type ToolWorld, tool } from "../tool.ts";

/** Characters of the messages of one answer: a full inbox must not fill a context window at once. */
const readMax = 24_000;
const waitMaxSeconds = 1_800;

const sendMessage = tool({
  name: "send_message",
  description:
    "Sends a message to one member of your team, or to all others. They read it when they look for messages. A message of purpose hand-over also lets the members start that wait for you.",
  input: closedObject(
    {
      to: { ...text, maxLength: 100, description: "The name of a member, or all." },
      text: {
        ...text,
        maxLength: 16_384,
        description: "What to say: short, with files, numbers and what you need.",
      },
      purpose: { ...oneOf("message", "hand-over"), description: "message, unless you say otherwise." },
    },
    ["to", "text"],
  ),
  // the board knows a message that was sent before the restart
  restarted: "repeats",
  run({ to, text, purpose = "message" }, { board }) {
    const why = board!.send({ to, purpose, text });
    return why === undefined ? { outcome: "done", text: `sent to ${to}` } : refused(`not sent: ${why}`);
  },
});

const readMessages = tool({
  name: "read_messages",
  description:
    "Reads the messages of your team that you have not read yet, in the order in which they were sent. It can wait for one.",
  input: partialObject({
    wait_seconds: {
      ...({ type: "integer", minimum: 0, maximum: waitMaxSeconds } as const),
      description: "How long to wait for a message if there is none. Not at all by default.",
    },
  }),
  restarted: "repeats",
  kept(result, { board }) {
    board!.read = Number(/^Messages \d+-(\d+) of /.exec(result.text)?.[1] ?? board!.read);
    return result;
  },
  async run({ wait_seconds = 0 }, { board, signal, meter }) {
    if (wait_seconds > 0 && board!.received().length === board!.read)
      await board!.next(Math.min(1000 * wait_seconds, meter.leftMs()), signal);
    signal.throwIfAborted();
    return { outcome: "done", text: unread(board!) };
  },
});

export const boardTools = [sendMessage, readMessages];

/** Marks them as read. The first line says which they are: after a restart, reading continues behind them. */
function unread(board: NonNullable<ToolWorld["board"]>): string {
  const all = board.received();
  const [first, shown] = [board.read + 1, [] as string[]];
  for (let characters = 0; board.read < all.length; board.read++) {
    const { from, to, purpose, text } = all[board.read]!;
    characters += text.length;
    if (shown.length > 0 && characters > readMax) break;
    const about = `${to === "all" ? " to all" : ""}${purpose === "hand-over" ? ", a hand-over" : ""}`;
    shown.push(`[${board.read + 1}] from ${from}${about}:\n${text}`);
  }
  if (shown.length === 0) return "no new message";
  const more = board.read < all.length ? ` Call again for the other ${all.length - board.read}.` : "";
  return [`Messages ${first}-${board.read} of ${all.length}.${more}`, ...shown].join("\n\n");
}
