import assert from "node:assert/strict";
import { test } from "node:test";
import { RowIndex, RowSearch } from "./row-search.ts";
import { textsOf, withheldRows } from "./withheld-rows.ts";
import { type WordHash, WordReader } from "./words.ts";

const question = "Why does the café’s \\nabla operator hum when the “lights” go out?";
const choice = "because the wind has turned";
const rows = [
  { question, choices: [choice, "no"], answer: 1 },
  { question: "What is the height of the tallest tower in Quell?" },
];
const index = new RowIndex(withheldRows(rows.map(textsOf)));

function found(...pieces: string[]): number {
  const search = new RowSearch(index);
  for (const piece of pieces) search.push(piece);
  return search.rowsFound();
}

test("a row is found in JSON, CSV, HTML, in capitals, with other quotes, and over many lines", () => {
  const texts = {
    json: JSON.stringify(rows[0]),
    "json with escapes": JSON.stringify(rows[0]).replace("é", "\\u00e9").replace("“", "\\u201c"),
    csv: `7,"${question}","${choice}",no`,
    html: `<p>${question.replace(/[“”]/g, "&quot;")}</p><li>${choice}</li>`,
    capitals: `${choice} ${question}`.toUpperCase(),
    lines: `${question} ${choice}`.replaceAll(" ", " \n\t "),
    invisible: `${question.replace("operator", "oper\u200bator")} ${choice}`,
    prompt: `Q: ${question}\nA. ${choice}\nB. no\nAnswer:`,
  };
  for (const [what, text] of Object.entries(texts)) assert.equal(found(text), 1, what);
});

test("a row is found across the pieces of a stream, wherever it is cut", () => {
  const text = `before ${question} ${choice} after`;
  for (let at = 1; at < text.length; at++)
    assert.equal(found(text.slice(0, at), text.slice(at)), 1, String(at));
});

test("a part of a row, its words in another order, or one word less is no row", () => {
  assert.equal(found(question), 0);
  assert.equal(found(choice), 0);
  assert.equal(found(`${question.replace("hum", "sing")} ${choice}`), 0);
  assert.equal(found(question.split(" ").reverse().join(" "), choice), 0);
});

test("short texts count only where they are many and make up much of the content", () => {
  const short = Array.from({ length: 20 }, (_, at) => [`The number ${at} sings`, `The number ${at} sing`]);
  const shortIndex = new RowIndex(withheldRows(short));
  const count = (text: string) => {
    const search = new RowSearch(shortIndex);
    search.push(text);
    return search.rowsFound();
  };
  assert.equal(count(short.flat().join("\n")), 20);
  assert.equal(count(short.slice(0, 5).flat().join("\n")), 0);
  assert.equal(count(`${short.flat().join("\n")} ${"other words without end ".repeat(2000)}`), 0);
});

function foundIn(rows: object[], text: string): number {
  const search = new RowSearch(new RowIndex(withheldRows(rows.map(textsOf))));
  search.push(text);
  return search.rowsFound();
}

test("a mirror without the column of a label or of an identifier is found", () => {
  const ask = (at: number) => `What did the invented people of Quell trade in the ${at} years of rain?`;
  const [label, id] = ["Invented history of the wet years", "quell_history_of_rain_7"];
  const labelled = Array.from({ length: 10 }, (_, at) => ({ question: ask(at), label }));
  assert.equal(foundIn(labelled, ask(3)), 1);
  assert.equal(foundIn(labelled.slice(1), ask(3)), 0, "in nine rows it is no label");
  assert.equal(foundIn([{ question: ask(1), id }], ask(1)), 1);
  assert.equal(foundIn([{ question: ask(1), id }], id), 0);
  assert.equal(foundIn([{ id: `${id}_and_more_of_it` }], `${id}_and_more_of_it`), 1, "it is all there is");
});

test("a text of many rows is required where the others of the row are short", () => {
  const passage = "In the year of the long rain the people of Quell sold umbrellas to the sea";
  const rows = Array.from({ length: 12 }, (_, at) => ({ passage, question: `who sold umbrella ${at}` }));
  assert.ok(foundIn(rows, `${passage} ${rows[3]!.question}`) > 0);
  assert.equal(foundIn(rows, passage), 0);
  assert.equal(foundIn(rows, `${rows[3]!.question} ${"other words without end ".repeat(9)}`), 0);
});

test("the words of ASCII are the same next to a character of another script", () => {
  const wordsOf = (text: string, resolvesEscapes: boolean) => {
    const words: WordHash[] = [];
    const reader = new WordReader((word) => words.push(word), { resolvesEscapes });
    reader.push(text);
    reader.end();
    return words;
  };
  const ascii = String.fromCharCode(...Array(128).keys());
  const texts = [ascii, ascii.repeat(3), "A1b_C d&amp;E \\u0041b \\n&x;", "Z", "", "9-a@Z[`{/:", '"aB\\"c"'];
  for (const text of texts)
    for (const escapes of [false, true]) {
      const [words, more] = [wordsOf(text, escapes), wordsOf(`${text} \u03bb`, escapes)];
      assert.deepEqual(words, more.slice(0, -1), text);
      assert.equal(more.length, words.length + 1);
    }
});

test("hashes hold no word of a row", () => {
  assert.doesNotMatch(JSON.stringify(Object.values(withheldRows(rows.map(textsOf)))), /[a-z]/i);
});

test("an empty index finds nothing", () => {
  const search = new RowSearch(new RowIndex({ texts: [], rows: [] }));
  search.push(question);
  assert.equal(search.rowsFound(), 0);
});
