// croissant.json: the bundle's tables as a Croissant data set with fields of responsible AI, as venues ask for it. It is
// read next to the unpacked files. Pure.
import type { Report } from "@mlrb/formats/report";
import { type ResultTable, resultRows } from "@mlrb/formats/report/result-tables";
import { labelText } from "@mlrb/report/read/condition-words";
import { plainText } from "@mlrb/report/read/plain-text";
import { coverageLine } from "@mlrb/report/sections/sections";

/** The names that Croissant 1.0 gives to its fields. */
const context = {
  "@language": "en",
  "@vocab": "https://schema.org/",
  citeAs: "cr:citeAs",
  column: "cr:column",
  conformsTo: "dct:conformsTo",
  cr: "http://mlcommons.org/croissant/",
  equivalentProperty: "cr:equivalentProperty",
  samplingRate: "cr:samplingRate",
  data: { "@id": "cr:data", "@type": "@json" },
  dataType: { "@id": "cr:dataType", "@type": "@vocab" },
  dct: "http://purl.org/dc/terms/",
  examples: { "@id": "cr:examples", "@type": "@json" },
  extract: "cr:extract",
  field: "cr:field",
  fileObject: "cr:fileObject",
  fileProperty: "cr:fileProperty",
  fileSet: "cr:fileSet",
  format: "cr:format",
  includes: "cr:includes",
  isLiveDataset: "cr:isLiveDataset",
  jsonPath: "cr:jsonPath",
  key: "cr:key",
  md5: "cr:md5",
  parentField: "cr:parentField",
  path: "cr:path",
  rai: "http://mlcommons.org/croissant/RAI/",
  recordSet: "cr:recordSet",
  references: "cr:references",
  regex: "cr:regex",
  repeated: "cr:repeated",
  replace: "cr:replace",
  sc: "https://schema.org/",
  separator: "cr:separator",
  source: "cr:source",
  subField: "cr:subField",
  transform: "cr:transform",
};

const unknownLicence = "unknown: choose one before you publish";

type Described = {
  /** The CSV files in results/ with their digests. */
  tables: readonly { name: string; sha256: string }[];
  /** When the results were made, e.g. 2026-01-31; null if unknown. */
  date: string | null;
};

export function croissantText(report: Report, { tables, date }: Described): string {
  const known = tables.flatMap(({ name, sha256 }) => {
    const table = name.replace(/\.csv$/, "");
    return Object.hasOwn(resultRows, table) ? [{ table: table as ResultTable, sha256 }] : [];
  });
  const title = plainText(`${report.title} (${labelText(report)})`);
  const about = {
    "@context": context,
    "@type": "sc:Dataset",
    name: title,
    description: `Results of one run of mlrb, which runs the ML Research Benchmark. ${report.note} ${plainText(coverageLine(report), 2000)}`,
    conformsTo: ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
    license: unknownLicence,
    url: "unknown: where you publish the bundle",
    citeAs: `${title}. Results of mlrb${date === null ? "" : `, ${date}`}.`,
    ...(date !== null && { datePublished: date }),
    version: "1.0.0",
    ...responsibleFields(report),
    distribution: known.map(({ table, sha256 }) => ({
      "@type": "cr:FileObject",
      "@id": `${table}.csv`,
      name: `${table}.csv`,
      contentUrl: `results/${table}.csv`,
      encodingFormat: "text/csv",
      sha256,
    })),
    recordSet: known.map(({ table }) => ({
      "@type": "cr:RecordSet",
      "@id": table,
      name: table,
      description: `the rows of ${table}.csv`,
      field: Object.entries(resultRows[table].properties).map(([column, schema]) => ({
        "@type": "cr:Field",
        "@id": `${table}/${column}`,
        name: column,
        ...("description" in schema && { description: String(schema.description) }),
        dataType: typeOf(schema),
        source: { fileObject: { "@id": `${table}.csv` }, extract: { column } },
      })),
    })),
  };
  return `${JSON.stringify(about, null, 2)}\n`;
}

function responsibleFields({ smoke, agents, tasks }: Report): Record<string, string | string[]> {
  return {
    "rai:dataCollection": `AI agents (${agents.length}) attempted research tasks (${tasks.length}) under a budget; scripts judged and scored what they submitted.`,
    "rai:dataCollectionType": ["Experiments"],
    "rai:dataCollectionRawData":
      "members/ has the verdicts, scores and samples, records/ the trajectories, journals/ the runs.",
    "rai:dataAnnotationProtocol":
      "No person labelled rows. Decisions of people on rules are in attempts.csv with their reasons.",
    "rai:dataPreprocessingProtocol": [
      "Keys were replaced in all texts. Ids of private rows in samples were replaced by digests. bundle.json lists each replaced file with the digest of its original.",
    ],
    "rai:dataUseCases":
      "Comparing AI agents at these tasks, checking the reported numbers, reading how attempts failed.",
    "rai:dataLimitations": [
      ...(smoke ? ["Smoke test on toy data: no number says anything about an agent."] : []),
      "Few attempts for each task and agent; intervals are stated where they hold.",
      "Trajectories hold text that models wrote, unedited except for keys.",
    ],
    "rai:dataBiases":
      "The tasks are in English or are about machine learning; agents may know public parts of them.",
    "rai:personalSensitiveInformation":
      "Hosts' names are in page.json and journals/. The bundle holds no data of the tasks; trajectories may quote public data.",
    "rai:dataSocialImpact": "The results describe how far AI agents automate research on machine learning.",
    "rai:dataReleaseMaintenancePlan": "None: a bundle is a record of one run and does not change.",
  };
}

/** A column that may be a text is one. */
function typeOf(schema: { type?: string | readonly string[] }): string {
  const types = [schema.type ?? "string"].flat();
  if (types.includes("string")) return "sc:Text";
  if (types.includes("boolean")) return "sc:Boolean";
  return types.includes("integer") ? "sc:Integer" : "sc:Float";
}
