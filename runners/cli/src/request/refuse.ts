// Prints the problems of a request. Loads none of the code that plans.

import { counted } from "@mlrb/core/text/counted";
import { type Diagnostic, renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { printJson } from "../show/print-json.ts";
import { inTypedForm } from "./typed-program.ts";

/** Prints why nothing is run; the exit status of an invalid request. */
export function refuse(problems: Diagnostic[], json: boolean): 2 {
  printDiagnostics(problems, json);
  process.stderr.write(`${counted(problems.length, "problem")}; nothing was run\n`);
  return 2;
}

/** The same in words that are ready to be printed. */
export function refuseWords(words: string): 2 {
  process.stderr.write(`${words}\n`);
  return 2;
}

export function printDiagnostics(problems: Diagnostic[], json: boolean): void {
  for (const problem of problems) {
    const { place, ...rest } = problem;
    if (json) {
      const { file, line, column } = place ?? {};
      printJson({ event: "problem", ...rest, file, line, column });
    }
    process.stderr.write(inTypedForm(`${renderDiagnostic(problem)}\n\n`));
  }
}
