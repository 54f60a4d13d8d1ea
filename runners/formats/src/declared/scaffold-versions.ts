// What an agent meets in an attempt (workspace, variables, wording, how it is ended) is part of the measurement.
// The harness's code is not part of an attempt's key: a comment in it must not make paid attempts stale. So this
// behaviour has a version number, which presets name and the key contains. scaffold.golden.test and
// scaffold/scaffolds.golden.test fail if the behaviour changes without the number.
export const scaffoldVersions = {
  command: 1,
  nop: 1,
  /** Texts, variables, folders and messages of its members. */
  team: 1,
  /** The shell, and what its terminal says. */
  person: 1,
  react: 1,
  "supervisor-worker": 1,
  "mlrb-2024": 1,
} as const;
