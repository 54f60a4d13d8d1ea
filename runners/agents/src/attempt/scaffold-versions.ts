// What an agent meets in an attempt (workspace, variables, words, the way it is ended) is part of what is
// measured, and the harness that makes it is not part of an attempt's key: a comment in it must not stale
// attempts that cost money. So the behaviour has a number, which presets name and which is in the key.
// scaffold.golden.test and scaffold/scaffolds.golden.test fail when the behaviour changes and the number does not.
export const scaffoldVersions = { command: 1, nop: 1, react: 1, "supervisor-worker": 1 } as const;

/** Throws where a preset was written for another behaviour than the one there is. */
export function checkScaffold(kind: keyof typeof scaffoldVersions, asked: number | undefined): void {
  const [there, wanted] = [scaffoldVersions[kind], asked ?? 1];
  if (there === wanted) return;
  throw new Error(
    `the preset is for version ${wanted} of the ${kind} scaffold, and this program has version ${there}; write scaffoldVersion: ${there} in the preset: earlier attempts become stale, because their agents ran under another scaffold`,
  );
}
