// admission.json: whether the submission can be loaded. It is separate from the verdict, so that a changed rule rescores
// nothing.
import { anyText, fileFormat, flag, listOf, type TypeOf, text, wholeObject } from "../schema.ts";

const reason = wholeObject({ code: text, detail: anyText });
export type AdmissionReason = TypeOf<typeof reason>;

export const reasons = {
  ...listOf(reason),
  description: "why it is not admitted, in the order found; empty if admitted",
} as const;

export const admission = fileFormat(
  "mlrb admission",
  wholeObject({ formatVersion: { const: 1 }, admitted: flag, reasons }),
);
export type Admission = TypeOf<typeof admission>;
