import { closedObject, flag, text } from "@mlrb/formats/schema";
import { noteMax, notesMax } from "../notes.ts";
import { refused, tool } from "../tool.ts";

export const note = tool({
  name: "note",
  description:
    "Keeps a note for yourself: findings, decisions, what to do next. Notes stay with you when older messages are cut to make room. " +
    `One holds at most ${noteMax} characters, all together ${notesMax}.`,
  input: closedObject(
    { text, replaceAll: { ...flag, description: "Drop all earlier notes for this one." } },
    ["text"],
  ),
  restarted: "runs",
  run({ text, replaceAll = false }, { notes, write, by }) {
    const trouble = replaceAll ? notes.replace(text) : notes.add(text);
    if (trouble !== undefined) return refused(trouble);
    write({ event: "note", by, text: text.trim() });
    return { outcome: "done", text: "noted" };
  },
});
