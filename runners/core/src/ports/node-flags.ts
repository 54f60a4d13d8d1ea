// Flags of every Node process of this project: the runner, supervisors of attempts, stage scripts, tests.

/**
 * V8 compiles in the background. A compiler without memory waits for the main thread to collect garbage, and an
 * ending main thread waits for the compiler: the process then hangs after all its work (nodejs/node#54918, #64274;
 * ADR 9). With these flags, memory for compiled code is allocated on the main thread. They must be on the command
 * line. A compiler job that runs while a process changes them ends the process with "Check failed:
 * !deopt_data.is_null()".
 */
export const v8Flags = [
  "--no-concurrent-sparkplug",
  "--no-maglev-build-code-on-background",
  "--no-maglev-deopt-data-on-background",
];

/** For a Node that runs TypeScript. */
export const nodeFlags = ["--disable-warning=ExperimentalWarning", ...v8Flags];
