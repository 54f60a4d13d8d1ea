// What rebuilding a file of settings found.
import type { AdmissionReason, DroppedSetting } from "@mlrb/formats/judged/admission";

export type CleanFindings = {
  /** Why the submission cannot be loaded. */
  reasons: AdmissionReason[];
  /** Settings that may change the model and that the benchmark does not know: the operator decides. */
  undecided: AdmissionReason[];
  dropped: DroppedSetting[];
};
