// What a terminal can do, from its stream and the environment.

/** As in `process.env`; only TERM and NO_COLOR are read. */
export type TerminalVariables = Readonly<Record<string, string | undefined>>;

type Terminal = { isTTY?: boolean };

/** Whether lines can be redrawn in place. */
export function isLive(stream: Terminal, env: TerminalVariables = process.env): boolean {
  return stream.isTTY === true && env.TERM !== "dumb";
}

/** How wide stdout is (100 columns in a pipe without COLUMNS), and whether it shows colours. */
export function stdoutLook(): { width: number; color: boolean } {
  const width = process.stdout.columns ?? Number(process.env.COLUMNS ?? 100);
  return { width, color: hasColor(process.stdout) };
}

export function hasColor(stream: Terminal, env: TerminalVariables = process.env): boolean {
  return isLive(stream, env) && !env.NO_COLOR;
}
