// Ends the suite by a signal once. Whoever presses Ctrl-C again while the files of tests are being ended must not end
// the suite before them: they are process groups of their own and would go on.

export function abortOnSignals(end: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => end.abort(`the suite got ${name}`));
}
