// How every Node of ours is started: the runner, the supervisors of attempts, stage scripts, the suite and its files of tests.

/**
 * V8 compiles in the background, and a compiler that finds no room there waits for the main thread to collect
 * garbage. A main thread that ends waits for the compiler: the process stays for good, after it has done
 * everything (nodejs/node#54918, #64274; ADR 29). With these, compiled code gets its room on the main thread.
 */
export const v8Flags = [
  "--no-concurrent-sparkplug",
  "--no-maglev-build-code-on-background",
  "--no-maglev-deopt-data-on-background",
];

/** For the command line of a Node that reads TypeScript. */
export const nodeFlags = ["--disable-warning=ExperimentalWarning", ...v8Flags];
