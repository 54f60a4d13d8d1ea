import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";

/** The number of CPUs that `--jobs` names; undefined without the option. */
export function parseJobs(text: string | undefined): number | undefined | Diagnostic {
  if (text === undefined) return undefined;
  const jobs = Number(text);
  if (Number.isInteger(jobs) && jobs > 0) return jobs;
  return { code: "bad-jobs", message: `--jobs ${text} is not a whole number above 0`, help: "e.g. --jobs 2" };
}
