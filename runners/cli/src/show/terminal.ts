// What a terminal can do, from whether it is one and from what the environment says of it.

/** As in `process.env`; only TERM and NO_COLOR are read. */
export type TerminalVariables = Readonly<Record<string, string | undefined>>;

type Terminal = { isTTY?: boolean };

/** Whether lines can be drawn again in place. */
export function isLive(stream: Terminal, env: TerminalVariables = process.env): boolean {
  return stream.isTTY === true && env.TERM !== "dumb";
}

export function hasColor(stream: Terminal, env: TerminalVariables = process.env): boolean {
  return isLive(stream, env) && !env.NO_COLOR;
}
