// One plain line of a text that may contain a stage's output, without control characters or line breaks.

export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}
