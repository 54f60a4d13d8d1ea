// An agent's notes. They stay in the conversation when the rest is cut, and every worker gets them; so their total
// length is limited.
export type Notes = ReturnType<typeof notes>;

/** In characters: one note, and all notes together. */
export const noteMax = 4_000;
export const notesMax = 16_000;
export const notesCountMax = 100;

export function notes() {
  let all: string[] = [];
  const take = (text: string, before: string[]): string | undefined => {
    const kept = text.trim();
    if (kept === "") return "an empty note keeps nothing";
    if (kept.length > noteMax)
      return `a note holds at most ${noteMax} characters, this one has ${kept.length}; keep what matters, and write the rest into a file`;
    const length = before.reduce((sum, one) => sum + one.length, kept.length);
    if (length > notesMax || before.length === notesCountMax)
      return `all notes together hold at most ${notesMax} characters, and there are at most ${notesCountMax}; write one that says what still matters, with "replaceAll": true`;
    all = [...before, kept];
    return undefined;
  };
  return {
    /** Returns why the note was not accepted. */
    add: (text: string) => take(text, all),
    replace: (text: string) => take(text, []),
    /** The text that a model reads; empty without notes. */
    text: () => all.map((one, index) => `${index + 1}. ${one}`).join("\n"),
  };
}
