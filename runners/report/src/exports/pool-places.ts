// The messages of each request to a model, as runs of positions in the pool. A trajectory has every message and
// every cut, but not each request. After a cut the request is assumed to be the conversation's first two messages
// (its task) and the newest ones. Pure.

/** Of one conversation: positions [from, to). */
type Runs = [from: number, to: number][];

const heldFirst = 2;

export class PoolPlaces {
  readonly #runs = new Map<string, Runs>();
  #next = 0;

  /** The next message of the pool belongs to `by`. */
  said(by: string): void {
    const runs = this.#runs.get(by) ?? [];
    this.#runs.set(by, runs);
    const last = runs.at(-1);
    if (last && last[1] === this.#next) last[1]++;
    else runs.push([this.#next, this.#next + 1]);
    this.#next++;
  }

  /** `kept` messages of the conversation stay. */
  cut(by: string, kept: number): void {
    const runs = this.#runs.get(by) ?? [];
    const first = taken(runs, Math.min(heldFirst, kept));
    const newest = taken(turned(runs), Math.max(0, kept - heldFirst));
    const tail = turned(newest);
    const end = first.at(-1)?.[1] ?? 0;
    const rest = tail.flatMap(([from, to]): Runs => (to <= end ? [] : [[Math.max(from, end), to]]));
    this.#runs.set(by, joined([...first, ...rest]));
  }

  asked(by: string): Runs {
    return (this.#runs.get(by) ?? []).map(([from, to]) => [from, to]);
  }
}

/** From the other end. */
function turned(runs: Runs): Runs {
  return runs.map(([from, to]): Runs[number] => [-to, -from]).reverse();
}

function taken(runs: Runs, count: number): Runs {
  const out: Runs = [];
  for (const [from, to] of runs) {
    if (count <= 0) break;
    out.push([from, Math.min(to, from + count)]);
    count -= to - from;
  }
  return out;
}

function joined(runs: Runs): Runs {
  const out: Runs = [];
  for (const [from, to] of runs) {
    const last = out.at(-1);
    if (last && last[1] === from) last[1] = to;
    else out.push([from, to]);
  }
  return out;
}
