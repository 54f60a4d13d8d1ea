// A number of bytes for people: `12 B`, `5.0 kB`, `1.2 GB`.
const units = ["kB", "MB", "GB", "TB"] as const;

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes / 1000;
  let at = 0;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000;
    at++;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}
