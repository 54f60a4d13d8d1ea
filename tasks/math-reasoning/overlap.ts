// How the items of the official test set overlap with the public training rows. Scores are shown for each kind of
// overlap, because an answer that training rows hold can be recalled.
import { plain, type Row, statementOf } from "./split.ts";

/**
 * From most to least overlap. same-statement: a training row has the English or the formal statement. same-name:
 * one has the name. near-statement: one shares most words of the English statement.
 */
export type Overlap = "same-statement" | "same-name" | "near-statement" | "new";

/** F1 of the two sets of words from which on two statements are near. */
const nearF1 = 0.8;

/** The overlap of each row of `test`, in order. */
export function overlaps(test: Row[], train: Row[]): Overlap[] {
  const english = new Set(train.map(({ informal_statement }) => plain(informal_statement)));
  const formal = new Set(train.map(formalStatement));
  const names = new Set(train.map(({ name }) => name.normalize("NFC")));
  const bags = train.map(({ informal_statement }) => words(informal_statement));
  return test.map((row): Overlap => {
    if (english.has(plain(row.informal_statement)) || formal.has(formalStatement(row)))
      return "same-statement";
    if (names.has(row.name.normalize("NFC"))) return "same-name";
    const own = words(row.informal_statement);
    return bags.some((bag) => f1(own, bag) >= nearF1) ? "near-statement" : "new";
  });
}

/** Of the first theorem or lemma: a row may begin with imports, and theorems' names do not count. */
function formalStatement(row: Row): string {
  const from = row.formal_proof.search(/\b(theorem|lemma)\s/);
  return statementOf({ ...row, formal_proof: row.formal_proof.slice(Math.max(0, from)) });
}

function words(text: string): Set<string> {
  return new Set(
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu),
  );
}

function f1(one: Set<string>, other: Set<string>): number {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  if (2 * small.size < nearF1 * (small.size + large.size)) return 0; // even if all words were shared
  let shared = 0;
  for (const word of small) if (large.has(word)) shared++;
  return (2 * shared) / (one.size + other.size || 1);
}
