import { scaffoldVersions } from "@mlrb/formats/declared/scaffold-versions";

/** Throws if the preset was written for another version. */
export function checkScaffold(kind: keyof typeof scaffoldVersions, asked: number | undefined): void {
  const [there, wanted] = [scaffoldVersions[kind], asked ?? 1];
  if (there === wanted) return;
  throw new Error(
    `the preset is for version ${wanted} of the ${kind} scaffold, and this program has version ${there}; write scaffoldVersion: ${there} in the preset: earlier attempts become stale, because their agents ran under another scaffold`,
  );
}
