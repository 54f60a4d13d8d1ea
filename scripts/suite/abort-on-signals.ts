// Ends the suite once on a signal. A second Ctrl-C must not end the suite before its test files, which run in
// separate process groups and would continue.

export function abortOnSignals(end: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => end.abort(`the suite got ${name}`));
}
