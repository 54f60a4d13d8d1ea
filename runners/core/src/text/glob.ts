// What a pattern of paths says before any file is looked at. Pure.

export function isGlob(pattern: string): boolean {
  return /[*?[{]/.test(pattern);
}

/** The folder above the first step with a wildcard; empty for the root. */
export function globFolder(pattern: string): string {
  const steps = pattern.split("/");
  return steps.slice(0, steps.findIndex(isGlob)).join("/");
}
