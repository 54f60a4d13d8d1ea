// Prints the problems of a request. Loads none of the code that plans.

import { counted } from "@mlrb/core/text/counted";
import { type Diagnostic, renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { oneLine, printJson } from "../show/print.ts";
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

/** Prints a problem of a request and its way out; texts of other people may be quoted in it. */
export function refused(problem: string, help: string): 2 {
  const lines = `${problem}\n  help: ${help}`.split("\n").map(oneLine);
  process.stderr.write(inTypedForm(`${lines.join("\n")}\n`));
  return 2;
}

/** The same of what was begun and could not be done. */
export function failed(problem: string, help: string): 1 {
  refused(problem, help);
  return 1;
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
