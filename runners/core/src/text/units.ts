// Parses sizes, always with a unit, and formats durations and sizes for people.

const sizes: Record<string, number> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** Bytes of `64GiB` or `12GB`; undefined if it is not a size. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([kMGT]?B|[KMGT]iB)$/.exec(text);
  if (!match) return undefined;
  const bytes = Math.round(Number(match[1]) * sizes[match[2]!]!);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A duration for people: `350 ms`, `2.4 s`, `3 m 20 s`, `26 h 10 m`. */
export function formatDuration(ms: number): string {
  if (ms < 995) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** A size for people: `512 B`, `3.2 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
