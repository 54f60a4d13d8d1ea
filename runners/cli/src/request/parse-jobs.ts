// Reads `--jobs`.

/** How many CPUs; undefined where nothing was said, "bad" of what is no whole number above 0. */
export function parseJobs(text: string | undefined): number | undefined | "bad" {
  if (text === undefined) return undefined;
  const jobs = Number(text);
  return Number.isInteger(jobs) && jobs > 0 ? jobs : "bad";
}
