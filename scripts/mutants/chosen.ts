// A plugin of Stryker: only the mutants that are named in a file are run. Stryker itself chooses by place in a
// file, and so cannot take a sample. The others come out as errors of compilation, which count for nothing.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { type Mutant, nameOf, type Place } from "./mutant.ts";

/** The file with the names of the chosen mutants, as JSON. */
export const chosenVariable = "MLRB_TEST_CHOSEN_MUTANTS";

type Candidate = Omit<Mutant, "file"> & { id: string; fileName: string };

class Chosen {
  readonly #names = new Set<string>(JSON.parse(readFileSync(process.env[chosenVariable]!, "utf8")));

  async init(): Promise<void> {}

  async group(mutants: Candidate[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  async check(mutants: Candidate[]): Promise<Record<string, { status: string; reason?: string }>> {
    const answers = mutants.map((mutant) => {
      const file = relative(process.cwd(), mutant.fileName);
      const chosen = this.#names.has(nameOf({ ...mutant, file, location: inReports(mutant.location) }));
      return [mutant.id, chosen ? { status: "passed" } : { status: "compileError", reason: "not chosen" }];
    });
    return Object.fromEntries(answers);
  }
}

/** Here Stryker counts lines and columns from 0, in its reports from 1. */
function inReports({ start, end }: Mutant["location"]): Mutant["location"] {
  const next = ({ line, column }: Place) => ({ line: line + 1, column: column + 1 });
  return { start: next(start), end: next(end) };
}

/** @public Stryker looks for this name. */
export const strykerPlugins = [{ kind: "Checker", name: "chosen", injectableClass: Chosen }];
