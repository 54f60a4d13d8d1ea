// The mark of attempts that continued after their supervisor or host died: their programs had to begin again, and the
// agent was told.
type Made = { resumed?: number };

/** Follows a resumed attempt. */
export const resumedMark = "#";

/** `resumed 2 times`; empty for an attempt without a restart. */
export function resumedText({ resumed = 0 }: Made): string {
  if (resumed === 0) return "";
  return `resumed ${resumed === 1 ? "once" : `${resumed} times`} after its supervisor or host died`;
}

/** `2 attempts were resumed after their supervisor or host died (#).` Empty if there is none. */
export function resumedLine(attempts: readonly Made[]): string {
  const { length } = attempts.filter((attempt) => resumedText(attempt) !== "");
  if (length === 0) return "";
  const many = length === 1 ? "1 attempt was" : `${length} attempts were`;
  return `${many} resumed after a supervisor or host died (${resumedMark}).`;
}
