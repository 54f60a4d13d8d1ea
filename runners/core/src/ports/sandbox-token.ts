// The mark of an attempt's sandbox, derived from the mark of its stage: ending everything with the stage's mark
// ends the sandbox too, and after the death of a supervisor the mark finds what is left.

/** Letters, digits and dashes, like the stage's token. */
export function sandboxToken(stageToken: string): string {
  return `${stageToken}box`;
}
