// What an attempt may spend by the command line, and at which prices, as of now. A run that continues an attempt
// of an earlier run brings its own cap and prices. They apply from the next try of a call.

import type { Purse } from "@mlrb/formats/attempt/purse";
import { readPurse } from "@mlrb/kit/attempts/purse";
import { canonicalJson } from "@mlrb/kit/json-file";
import { quiet } from "@mlrb/kit/processes/process-table";
import { type PriceBook, priceBook, readTable } from "./prices.ts";
import { CapFile, type SpendingCap } from "./spending-cap.ts";

type Carried = { run: string; maxDollars: number | null };

/** `attempt`: its name among those that share a cap. Undefined if there is no purse at `path`. */
export function attemptPurse(path: string, attempt: string): AttemptPurse | undefined {
  const purse = readPurse(path);
  return purse && new AttemptPurse(path, attempt, purse);
}

export class AttemptPurse {
  readonly #path: string;
  readonly #attempt: string;
  #purse: Purse;
  #table = readTable();
  #book: PriceBook;
  readonly #earlierBooks: PriceBook[] = [];
  #cap: CapFile | undefined;
  #holding = 0;
  #tell: (by: Carried) => void = () => {};

  constructor(path: string, attempt: string, purse: Purse) {
    this.#path = path;
    this.#attempt = attempt;
    this.#purse = purse;
    this.#book = priceBook(purse.runs, this.#table);
    this.#cap = this.#openCap();
  }

  readonly prices: PriceBook = {
    priceOf: (provider, model) => this.#updated().#book.priceOf(provider, model),
    dollarsOf: (usage, provider, model) => this.#updated().#book.dollarsOf(usage, provider, model),
    hasOwnPrice: (provider, model) => this.#updated().#book.hasOwnPrice(provider, model),
    mostDollarsOf: (usage) => this.#updated().#book.mostDollarsOf(usage),
    used: () => {
      const all = [...this.#earlierBooks, this.#book].flatMap((book) => book.used());
      return [...new Map(all.map((one) => [canonicalJson(one), one])).values()];
    },
  };

  readonly cap: SpendingCap = {
    leftDollars: () => this.#updated().#cap?.leftDollars() ?? Number.POSITIVE_INFINITY,
    freeDollars: () => this.#updated().#cap?.freeDollars() ?? Number.POSITIVE_INFINITY,
    maxDollars: () => this.#updated().#cap?.maxDollars(),
    hold: (dollars) => {
      this.#holding = dollars;
      this.#updated().#cap?.hold(dollars);
    },
    add: (dollars) => this.#updated().#cap?.add(dollars),
  };

  /** Calls `tell` at once with the run that carries the attempt, and again with each run that continues it. */
  onCarried(tell: (by: Carried) => void): void {
    this.#tell = tell;
    this.#tellRun();
  }

  /** A file that is gone, with the attempt's folder, changes nothing. */
  #updated(): this {
    const now = readPurse(this.#path) ?? this.#purse;
    if (now.runs.length === this.#purse.runs.length) return this;
    const moved = now.cap !== this.#purse.cap;
    this.#purse = now;
    // models without a price may have one by now; while a person is editing the table it cannot be read
    this.#table = quiet(() => readTable({ fresh: true })) ?? this.#table;
    this.#earlierBooks.push(this.#book);
    this.#book = priceBook(now.runs, this.#table);
    if (moved) this.#moveCap();
    this.#tellRun();
    return this;
  }

  /** Calls in flight are charged to the new cap. */
  #moveCap(): void {
    const before = this.#cap;
    this.#cap = this.#openCap();
    this.#cap?.hold(this.#holding);
    before?.hold(0);
  }

  #openCap(): CapFile | undefined {
    const { cap } = this.#purse;
    return cap === null ? undefined : new CapFile(cap, this.#attempt);
  }

  #tellRun(): void {
    const [carrying] = this.#purse.runs;
    if (carrying) this.#tell({ run: carrying.run, maxDollars: this.#cap?.maxDollars() ?? null });
  }
}
