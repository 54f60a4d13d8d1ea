// What an agent meets in an attempt (workspace, variables, wording, how it is ended) is part of the measurement. The
// harness's code is not part of an attempt's key: a comment in it must not make paid attempts stale. So this behaviour
// has a version number, which presets name and the key contains.
// scaffold.golden.test and scaffold/scaffolds.golden.test fail if the behaviour changes without the number.
export const scaffoldVersions = {
  command: 1,
  nop: 1,
  react: 1,
  "supervisor-worker": 1,
  "mlrb-2024": 1,
} as const;

/** Throws if the preset was written for another version. */
export function checkScaffold(kind: keyof typeof scaffoldVersions, asked: number | undefined): void {
  const [there, wanted] = [scaffoldVersions[kind], asked ?? 1];
  if (there === wanted) return;
  throw new Error(
    `the preset is for version ${wanted} of the ${kind} scaffold, and this program has version ${there}; write scaffoldVersion: ${there} in the preset: earlier attempts become stale, because their agents ran under another scaffold`,
  );
}
