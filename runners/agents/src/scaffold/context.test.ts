import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Message } from "../model/model-client.ts";
import {
  type Conversation,
  correctedWindow,
  cutToFit,
  entry,
  narrowedWindow,
  requestCharacters,
  requestMessages,
  windowCharacters,
  windowOf,
} from "./context.ts";

const pinned: Message[] = [
  { role: "system", text: "You do research." },
  { role: "user", text: "The task." },
];

type Turn = { text: string; results: string[]; said: string[] };

/** Ids repeat from turn to turn, as with endpoints that number the calls of each answer. */
function conversationOf(turns: Turn[]): Conversation {
  const entries = turns.flatMap(({ text, results, said }) => {
    const toolCalls = results.map((_, index) => ({
      id: `call-${index}`,
      name: "shell",
      input: { command: "x" },
    }));
    return [
      entry({ role: "assistant", text, toolCalls }),
      ...results.map((result, index) =>
        entry(
          { role: "tool", callId: `call-${index}`, name: "shell", text: result, failed: false },
          result.length > 500 ? { rest: "outputs/0001.txt" } : {},
        ),
      ),
      ...said.map((one) => entry({ role: "user", text: one }, { notice: true })),
    ];
  });
  return { pinned, entries, dropped: 0 };
}

/** Every call has its result right after its answer, and no result is alone. */
function isPaired(messages: Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) return false;
    } else {
      if (open.length > 0) return false;
      if (message.role === "assistant") open = message.toolCalls.map(({ id }) => id);
    }
  }
  return open.length === 0;
}

const text = (max: number) => fc.nat(max).map((length) => "x".repeat(length));
const turn = fc.record({
  text: text(3_000),
  results: fc.array(text(12_000), { maxLength: 4 }),
  said: fc.array(fc.constantFrom("50 % is used", "75 % is used"), { maxLength: 1 }),
});

test("after any cut, calls keep their results, notes and task stay, and the request fits", () => {
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 12 }),
      fc.integer({ min: 1_000, max: 60_000 }),
      text(2_000),
      (turns, charactersMax, notes) => {
        const before = conversationOf(turns);
        const { conversation, cut } = cutToFit(before, { notes, toolsCharacters: 2, charactersMax });
        const messages = requestMessages(conversation, notes);
        assert.ok(isPaired(messages));
        assert.deepEqual(messages.slice(0, 2), pinned);
        const least = requestCharacters(
          { ...conversation, entries: [], dropped: 99 },
          { notes, toolsCharacters: 2 },
        );
        assert.ok(
          requestCharacters(conversation, { notes, toolsCharacters: 2 }) <= Math.max(charactersMax, least),
        );
        if (conversation.dropped > 0) assert.ok(messages[2]!.text.includes(notes));
        const dropped = before.entries.slice(0, conversation.dropped).findLast((one) => one.notice);
        if (dropped) assert.ok(messages[2]!.text.includes(dropped.message.text));
        assert.equal(cut === undefined, conversation === before);
        if (cut) assert.ok(cut.messagesCut > 0 && cut.messagesKept === messages.length);
      },
    ),
  );
});

test("the oldest results go first, each replaced by the name of its file", () => {
  const before = conversationOf(
    [10_000, 10_000, 10_000, 10_000].map((length) => ({ text: "", results: ["y".repeat(length)], said: [] })),
  );
  const { conversation, cut } = cutToFit(before, { notes: "", toolsCharacters: 2, charactersMax: 36_000 });
  const texts = requestMessages(conversation, "").flatMap((one) => (one.role === "tool" ? [one.text] : []));
  assert.equal(
    texts[0],
    "[cut to make room: 10000 characters of this result; the whole of it lies in outputs/0001.txt]",
  );
  assert.deepEqual(
    texts.map((one) => one.startsWith("[cut")),
    [true, true, false, false],
  );
  assert.deepEqual(cut, { messagesCut: 2, charactersCut: 19_814, messagesKept: 10 });
});

test("a conversation that fits is left as it is", () => {
  const before = conversationOf([{ text: "a", results: ["b"], said: [] }]);
  const { conversation, cut } = cutToFit(before, { notes: "", toolsCharacters: 2, charactersMax: 10_000 });
  assert.equal(conversation, before);
  assert.equal(cut, undefined);
});

test("the window follows the provider's counts, and narrows when it refuses", () => {
  const model = { provider: "test", id: "test", contextTokens: 10_000, maxOutputTokens: 1_000 };
  const window = windowOf(model);
  assert.equal(windowCharacters(window), 29_925);
  const dense = correctedWindow(window, 20_000, 10_000);
  assert.ok(windowCharacters(dense) < windowCharacters(window));
  assert.deepEqual(correctedWindow(window, 20_000, 0), window);
  assert.ok(correctedWindow(window, 20_000, 1).charactersPerToken < 5);
  const narrow = narrowedWindow(window, 20_000);
  assert.ok(Math.abs(windowCharacters(narrow) - 14_000) < 10);
  assert.ok(windowCharacters(correctedWindow(narrow, 14_000, 4_000)) < 15_000);
});
