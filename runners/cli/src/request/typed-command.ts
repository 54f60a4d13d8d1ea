// A command line that a person can type, with the options of the current one.
// Pure but for the form of the program's name: no disk, no clock.
import { shellWord } from "@mlrb/core/ports/command-line";
import type { CommonOptions } from "./request.ts";
import { typedProgram } from "./typed-program.ts";

type TypedOptions = Partial<Omit<CommonOptions, "json" | "root">> &
  Partial<Record<"pipeline" | "root", string | undefined>>;

/** `pnpm pipeline COMMAND NAME --profile …`, quoted for a shell. `words`: the command's arguments. */
export function typedCommand(command: string, words: string | string[], asked: TypedOptions): string {
  const options = [
    ...flags("--pipeline", [asked.pipeline]),
    ...flags("--profile", [asked.profile]),
    ...flags("--only", asked.only ?? []),
    ...flags("--set", asked.set ?? []),
    ...flags("--executor", [asked.executor]),
    ...(asked.skipReferenceModels ? ["--skip-reference-models"] : []),
    ...(asked.liveTools ? ["--live-tools"] : []),
    ...flags("--root", [asked.root]),
  ];
  return [typedProgram(), command, ...[words].flat().map(shellWord), ...options].join(" ");
}

function flags(name: string, values: (string | undefined)[]): string[] {
  return values.filter((value) => value !== undefined).map((value) => `${name} ${shellWord(value)}`);
}
