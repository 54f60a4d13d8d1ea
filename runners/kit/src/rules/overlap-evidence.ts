// How often the overlap with scored rows marks an honest attempt. docs/rules.md says how it was measured.

export const honestOverlap = {
  attempts: 0,
  marked: 0,
  /** Upper end of the exact two-sided 95 % interval of the rate. */
  upper: 1,
  of: "",
  date: "2026-11-30",
};
