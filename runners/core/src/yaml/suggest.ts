// Finds the intended name. Every "unknown …" diagnostic uses it.

/** The candidate nearest to `name`; undefined if none is near enough to be a typo. */
export function suggest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  if (name.length > 100) return undefined; // not a typo, and slow to compare
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean "x"?`, or the list of candidates if none is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const all = [...candidates];
  const near = suggest(name, all);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (all.length === 0) return "there is none";
  const shown = all.slice(0, 12).join(", ");
  return `known: ${shown}${all.length > 12 ? `, and ${all.length - 12} more` : ""}`;
}

/** `didYouMean`, and the command that lists all. */
export function didYouMeanIn(name: string, candidates: readonly string[], list: string): string {
  const near = didYouMean(name, candidates);
  return `${near}${near.endsWith("?") ? "" : ";"} \`${list}\` shows all ${candidates.length}`;
}

/** Edits (insert, delete, replace, swap of neighbours) from `a` to `b`: optimal string alignment. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, before[j - 2]! + 1);
      }
      next.push(value);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
