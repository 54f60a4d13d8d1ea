/** At most `charactersMax` characters; a shortened text ends with `…`. */
export function shorten(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax - 1)}…` : text;
}

/** A parameter's value on one line: a text as it is, anything else as JSON. */
export function valueText(value: unknown, charactersMax: number): string {
  return shorten(typeof value === "string" ? value : JSON.stringify(value), charactersMax);
}
