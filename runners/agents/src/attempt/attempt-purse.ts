// What an attempt may spend by what the command line said, and at which prices, as it is now: a run that goes on with
// an attempt of an earlier run brings its own cap and prices, which hold from the next try of a call on.

import { type Purse, readPurse } from "@mlrb/kit/attempts/purse";
import { canonicalJson } from "@mlrb/kit/json-file";
import { type PriceBook, priceBook, readTable } from "../model/prices.ts";
import { openCap, type SpendingCap } from "./spending-cap.ts";

export type AttemptPurse = {
  prices: PriceBook;
  cap: SpendingCap;
  /** Called at once with the run that carries the attempt, and again with each that goes on with it. */
  onCarried(tell: (by: { run: string; maxDollars: number | null }) => void): void;
};

/** `attempt`: its name among those that share a cap. Undefined where there is no purse at `path`. */
export function attemptPurse(path: string, attempt: string): AttemptPurse | undefined {
  const found = readPurse(path);
  if (found === undefined) return undefined;
  let purse: Purse = found;
  let table = readTable();
  const bookOf = () => priceBook(purse.runs, table);
  const capOf = () => (purse.cap === null ? undefined : openCap(purse.cap, attempt));
  let [book, cap] = [bookOf(), capOf()];
  let tell: Parameters<AttemptPurse["onCarried"]>[0] = () => {};
  let holding = 0;
  const used: PriceBook["used"][] = [];
  const told = () => {
    const [carrying] = purse.runs;
    if (carrying) tell({ run: carrying.run, maxDollars: cap?.maxDollars() ?? null });
  };
  /** A file that is gone, with the attempt's folder, changes nothing. */
  const look = () => {
    const now = readPurse(path) ?? purse;
    if (now.runs.length === purse.runs.length) return;
    used.push(book.used);
    const before = cap;
    const moved = now.cap !== purse.cap;
    purse = now;
    table = newestTable() ?? table; // what had no price may have one by now
    book = bookOf();
    if (moved) {
      cap = capOf();
      cap?.hold(holding); // what is in flight is charged here
      before?.hold(0);
    }
    told();
  };
  const current = () => {
    look();
    return cap;
  };
  return {
    onCarried(then) {
      tell = then;
      told();
    },
    prices: {
      priceOf(provider, model) {
        look();
        return book.priceOf(provider, model);
      },
      dollarsOf(usage, provider, model) {
        look();
        return book.dollarsOf(usage, provider, model);
      },
      used() {
        const all = [...used, book.used].flatMap((list) => list());
        return [...new Map(all.map((one) => [canonicalJson(one), one])).values()];
      },
    },
    cap: {
      leftDollars: () => current()?.leftDollars() ?? Number.POSITIVE_INFINITY,
      freeDollars: () => current()?.freeDollars() ?? Number.POSITIVE_INFINITY,
      maxDollars: () => current()?.maxDollars(),
      hold(dollars) {
        holding = dollars;
        current()?.hold(dollars);
      },
      add: (dollars) => current()?.add(dollars),
    },
  };
}

/** Undefined where somebody is in the middle of an edit. */
function newestTable() {
  try {
    return readTable({ fresh: true });
  } catch {
    return undefined;
  }
}
