// Makes one plain line of text that may hold what a stage wrote: nothing in it may steer a terminal or break
// a line.

export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}
