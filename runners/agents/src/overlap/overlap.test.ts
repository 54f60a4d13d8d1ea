import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NgramIndex } from "./ngram-index.ts";
import { OverlapSearch } from "./overlap-search.ts";

const measure = { n: 4, wordsMin: 3, rowsMax: 2, normalisation: "letters-and-digits" } as const;
const row = "The ferry left the harbour at seven, and nobody waved to it.";

function sharesIn(texts: string[], rows: string[][], given: string[] = []) {
  const index = new NgramIndex(rows, measure);
  const known = new OverlapSearch(index);
  for (const text of given) {
    known.push(text);
    known.end();
  }
  for (const ngram of known.found) index.leaveOut(ngram);
  const search = new OverlapSearch(index);
  for (const text of texts) {
    search.push(text);
    search.end();
  }
  return { counts: index.rowCounts(), shares: index.sharesOf(search.found) };
}

test("a copied row is found whole, whatever its case, punctuation and encoding", () => {
  const copies = [
    row,
    row.toUpperCase().replaceAll(" ", "  "),
    `x = ${JSON.stringify({ text: `"${row}"\nnext` })}`,
    row.replaceAll(" ", "\\n"),
    row.replaceAll(" ", "%20"),
    encodeURIComponent(row.replace("left", "le\u200bft")),
    `text=${row.replaceAll(" ", "+").replaceAll("e", "%65")}`,
    row.replaceAll("e", "&#101;").replaceAll("a", "&#x61;"),
    row.replaceAll("e", "\\x65").replaceAll("a", "\\u0061").replaceAll("h", "\\U00000068"),
    Buffer.from(row, "utf16le").toString(),
    Buffer.from(row, "utf16le").swap16().toString(),
    [...row].map((one) => `${one}\0\0\0`).join(""),
    [...row].map((one) => `\0\0\0${one}`).join(""),
  ];
  for (const copy of copies) assert.deepEqual([...sharesIn([copy], [[row]]).shares], [[0, 1]], copy);
});

test("a part of a row is found as a share of it, and words in another order are not", () => {
  const half = "She said that the ferry left the harbour at seven.";
  const { shares } = sharesIn(
    [half, "seven at harbour the left ferry the"],
    [["Unlike it in every word, quite."], [row]],
  );
  assert.deepEqual([...shares], [[1, 4 / 9]]);
});

test("no n-gram spans two texts, neither of a row nor of an attempt", () => {
  const [first, second] = [row.slice(0, 26), row.slice(26)];
  const split = sharesIn([`${first} ${second}`], [[first, second]]);
  assert.deepEqual([...split.shares], [[0, 1]]);
  assert.ok(sharesIn([first, second], [[row]]).shares.get(0)! < 1);
});

test("what agents are given is no overlap, and a row of nothing else is not tested", () => {
  const other = "A kettle on the stove began to sing before the guests came.";
  const { counts, shares } = sharesIn([row, other], [[row], [other], ["too short"]], [`before ${row} after`]);
  assert.deepEqual(counts, { all: 3, tested: 1 });
  assert.deepEqual([...shares], [[1, 1]]);
});

test("a text shorter than n counts as a whole, and one shorter than wordsMin does not", () => {
  const rows = [["Cats annoyed Tim."], ["yes indeed"]];
  const { counts, shares } = sharesIn(["He said: cats annoyed Tim. Yes indeed."], rows);
  assert.deepEqual(counts, { all: 2, tested: 1 });
  assert.deepEqual([...shares], [[0, 1]]);
  assert.equal(sharesIn(["Cats rarely annoyed Tim."], rows).shares.size, 0);
});

test("a phrase of more than rowsMax rows shows none of them", () => {
  const asked = "Choose the one best answer: ";
  const rows = [
    "water boils at one hundred degrees",
    "lead is heavier than cork",
    "Bern lies on the Aare",
  ].map((text) => [asked + text]);
  assert.equal(sharesIn([`${asked}or write your own`], rows).shares.size, 0);
  assert.deepEqual([...sharesIn([rows[1]![0]!], rows).shares], [[1, 1]]);
});

test("where a text is cut into pieces makes no difference", () => {
  const words = fc.array(fc.constantFrom("ferry", "left", "Harbour", "été", "seven", "\\n", "—", "&amp;"), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(words, words, fc.array(fc.nat(60), { maxLength: 4 }), (inRow, held, cuts) => {
      const text = held.join(" ");
      const index = new NgramIndex([[inRow.join(" ")]], measure);
      const [whole, pieces] = [new OverlapSearch(index), new OverlapSearch(index)];
      whole.push(text);
      whole.end();
      let from = 0;
      for (const cut of cuts.sort((a, b) => a - b)) {
        pieces.push(text.slice(from, cut));
        from = Math.max(from, Math.min(cut, text.length));
      }
      pieces.push(text.slice(from));
      pieces.end();
      assert.deepEqual([...pieces.found].sort(), [...whole.found].sort());
    }),
  );
});
