// What filling in a stage goes by: the axes, manifests and parameters that there are, and where things
// are written.

import type { ExecutionSpec } from "@mlrb/formats/declared/pipeline";
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
  params: Record<string, Json>;
  /** How much there is of each pool; undefined where a slip, told already, leaves that open. */
  pools: Record<string, number> | undefined;
  pipeline: { name: string; title: string };
  /** By stage name: its own settings with the profile's laid over. */
  execution: (stage: string) => ExecutionSpec;
  /** The path at which such a setting is written. */
  written: (stage: string, setting: Path) => Path;
  problems: Diagnostic[];
};
