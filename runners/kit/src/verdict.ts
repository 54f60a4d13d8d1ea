// For manifests.ts.
export type { RuleSeverity, RuleSource } from "@mlrb/formats/verdict";
