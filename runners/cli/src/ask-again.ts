// How a person asks for the same again: the options that were typed, as they can be typed again.
// Pure: no disk, no clock.

type Asked = { profile?: string; only?: string[]; set?: string[]; executor?: string; root?: string };

/** `pnpm pipeline COMMAND NAME --profile …`, for a shell. */
export function askAgain(command: string, pipeline: string, asked: Asked): string {
  const options = [
    ...flags("--profile", [asked.profile]),
    ...flags("--only", asked.only ?? []),
    ...flags("--set", asked.set ?? []),
    ...flags("--executor", [asked.executor]),
    ...flags("--root", [asked.root]),
  ];
  return ["pnpm pipeline", command, shellWord(pipeline), ...options].join(" ");
}

function flags(name: string, values: (string | undefined)[]): string[] {
  return values.filter((value) => value !== undefined).map((value) => `${name} ${shellWord(value)}`);
}

/** A word that any shell of today takes as it is. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_.,:/=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
