// A plugin of Stryker: only the mutants that are named in a file are run. Stryker itself chooses by place in a
// file, and so cannot take a sample. The others come out as errors of compilation, which count for nothing.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { type Mutant, nameOf } from "./mutant.ts";

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
      const chosen = this.#names.has(nameOf({ ...mutant, file: relative(process.cwd(), mutant.fileName) }));
      return [mutant.id, chosen ? { status: "passed" } : { status: "compileError", reason: "not chosen" }];
    });
    return Object.fromEntries(answers);
  }
}

/** @public Stryker looks for this name. */
export const strykerPlugins = [{ kind: "Checker", name: "chosen", injectableClass: Chosen }];
