// What a submission's folder does not show: entries that were left out of it, and limits that it exceeded.
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { Admission, AdmissionReason } from "@mlrb/formats/judged/admission";
import { clip } from "./clip.ts";
import { copyLinks } from "./other-entries.ts";

const shown = 20;

/** Adds to a refusal what was left out, of which the refusal may be a consequence. `ledger`: a text if it is unreadable. */
export function withLeftOut<Found extends Admission>(admission: Found, ledger: Ledger | string): Found {
  if (admission.admitted || typeof ledger === "string") return admission;
  const { overLimits, leftOut } = ledger.submission;
  const more: AdmissionReason[] = leftOut
    .slice(0, shown)
    .map(({ path, why }) => ({ code: "left-out", detail: `${clip(path)}: ${why}${copyLinks(why)}` }));
  if (overLimits) more.unshift({ code: "over-limits", detail: `nothing was taken: ${overLimits}` });
  return { ...admission, reasons: [...admission.reasons, ...more] };
}
