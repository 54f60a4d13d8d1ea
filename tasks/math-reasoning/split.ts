// Assigns rows to parts of the data. Rows with the same meaning, in either language, are in the same part;
// otherwise answers of the private test could be found in public rows.
import { createHash } from "node:crypto";

export type Row = { name: string; informal_statement: string; informal_proof: string; formal_proof: string };

export type Part = "test" | "dev" | "train";

/** Decided by a hash of the name: a tenth is test, a tenth is dev. */
export function partOf(name: string): Part {
  const hash = createHash("sha256")
    .update(`mlrb-math-v1:${name.normalize("NFC")}`)
    .digest("hex");
  const rest = BigInt(`0x${hash}`) % 10n;
  return rest === 0n ? "test" : rest === 1n ? "dev" : "train";
}

/**
 * The part of each row, in order. Rows with an equal informal or formal statement form a group, transitively. The
 * group's first name, in code-unit order, decides.
 */
export function split(rows: Row[]): Part[] {
  const above = rows.map((_, at) => at);
  const root = (at: number): number => {
    let top = at;
    while (above[top] !== top) top = above[top] = above[above[top]!]!;
    return top;
  };
  const seen = new Map<string, number>();
  for (const [at, row] of rows.entries()) {
    for (const said of [`informal:${plain(row.informal_statement)}`, `formal:${statementOf(row)}`]) {
      const other = seen.get(said);
      if (other === undefined) seen.set(said, at);
      else above[root(at)] = root(other);
    }
  }
  const first = new Map<number, string>();
  for (const [at, { name }] of rows.entries()) {
    const known = first.get(root(at));
    if (known === undefined || name < known) first.set(root(at), name);
  }
  return rows.map((_, at) => partOf(first.get(root(at))!));
}

/** A theorem's statement: the text between its name and the first `:=`. */
export function statementOf({ formal_proof }: Row): string {
  const [statement = ""] = formal_proof.split(":=");
  return plain(statement.replace(/^\s*(theorem|lemma)\s+\S+/, ""));
}

export function plain(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}
