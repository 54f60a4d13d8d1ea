// The context in which a stage is filled in: axes, manifests, parameters, and the places of settings in the files.

import type { AllowanceSpec, ExecutionSpec } from "@mlrb/formats/declared/pipeline";
import type { Json } from "@mlrb/kit/stage";
import type { ManifestKind, Sources } from "../spec/manifest.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";
import type { Axis } from "./resolve-axes.ts";

export type ResolveContext = {
  source: YamlSource;
  sources: Sources;
  axes: Map<string, Axis>;
  manifests: Map<ManifestKind, Map<string, Record<string, unknown>>>;
  allowances: Record<string, AllowanceSpec>;
  params: Record<string, Json>;
  /** The size of each pool; undefined if a reported problem leaves it unknown. */
  pools: Record<string, number> | undefined;
  pipeline: { name: string; title: string };
  /** The stages that each service is for, by its name. */
  services: ReadonlyMap<string, string[]>;
  /** Whether stages that others start after are left out of the plan. */
  skipChecks: boolean;
  /** The settings of a stage, overridden by those of the profile. */
  execution: (stage: string) => ExecutionSpec;
  /** The path at which such a setting is written. */
  written: (stage: string, setting: Path) => Path;
  problems: Diagnostic[];
};
