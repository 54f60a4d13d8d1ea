// The mark of an attempt's sandbox, made from the mark of its stage: whoever ends all that bears the stage's ends
// the sandbox with it, and whoever comes after a dead supervisor finds by it what is left.

/** Letters, digits and dashes, as the stage's token has to be. */
export function sandboxToken(stageToken: string): string {
  return `${stageToken}box`;
}
