// What `attempts thin` prints.

import { counted } from "@mlrb/core/text/counted";
import { formatBytes } from "@mlrb/core/text/units";
import type { ThinReport } from "./thin-attempts.ts";

export function thinText({ attempts, freed, cannotRun }: ThinReport, dryRun: boolean): string[] {
  const lines = attempts.flatMap(({ record, files, shared, held, may }) => {
    const head = `${record.slice(0, 12)}  ${held.record.slot.stage}`;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const also =
      shared > 0
        ? `; ${counted(shared, "file")} ${shared === 1 ? "stays" : "stay"}: held by other records, given models or a kept submission`
        : "";
    const verb = dryRun ? "would go" : "thinned ";
    return [
      ...(files.length > 0
        ? [`${verb}  ${head}  ${counted(files.length, "file")}, ${formatBytes(bytes)}${also}`]
        : []),
      ...(files.length === 0 && shared > 0 ? [`kept      ${head}${also.slice(1)}`] : []),
      ...may.refused.map(({ output, why }) => `kept      ${head}  its ${output}: ${why}`),
    ];
  });
  const some = attempts.filter(({ files }) => files.length > 0).length;
  const end = `${counted(some, "attempt")} ${dryRun ? "would be thinned" : "thinned"}, ${formatBytes(freed)} ${dryRun ? "would be freed" : "freed"}`;
  const list = cannotRun.length > 0 ? [`cannot run again for them: ${cannotRun.join(", ")}`] : [];
  return [...lines, end, ...list];
}

export function thinJson({ attempts, freed, cannotRun }: ThinReport, dryRun: boolean): object[] {
  return [
    ...attempts.map(({ record, files, shared, may: { refused } }) => ({
      event: "attempt-thin",
      record,
      files,
      shared,
      refused,
    })),
    { event: "attempts-thin", dryRun, freed, cannotRun },
  ];
}
