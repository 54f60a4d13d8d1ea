// Text in columns of a terminal: how wide it shows and where it breaks.

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Columns that `text` takes, without escape sequences. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (!/\p{M}/u.test(character)) width += wide.test(character) ? 2 : 1;
  }
  return width;
}

/** `text` in lines of at most `width` columns, broken at spaces; a longer word is cut where it must be. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    line = "";
    for (const character of word) {
      if (line !== "" && displayWidth(line + character) > width) {
        lines.push(line);
        line = "";
      }
      line += character;
    }
  }
  return [...lines, line];
}
