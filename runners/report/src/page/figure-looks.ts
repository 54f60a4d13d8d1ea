// What the page's figures share.

/** Agents get the page's colours `--agent-1` and on, in the report's order. */
export function agentColour(agent: string, agents: readonly string[]): string {
  return `var(--agent-${(agents.indexOf(agent) % 6) + 1})`;
}

const shapes = ["circle", "square", "triangle", "diamond", "star", "wye"] as const;

/** For those who do not tell the colours apart; never the cross, which is a failed attempt. */
export function agentShape(agent: string, agents: readonly string[]): (typeof shapes)[number] {
  return shapes[agents.indexOf(agent) % shapes.length]!;
}

const labelMax = 24;

export function clipped(text: string): string {
  return text.length > labelMax ? `${text.slice(0, labelMax - 1)}…` : text;
}
