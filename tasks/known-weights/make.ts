// Makes the fingerprint of a published model:
//   node tasks/known-weights/make.ts FOLDER NAME SOURCE LICENCE > tasks/known-weights/NAME.json
// FOLDER holds the model as safetensors. SOURCE is the origin and version of the model.
import { readWeights } from "@mlrb/kit/admission/admission-model";
import { fingerprint, fingerprintText } from "@mlrb/kit/rules/fingerprint";

const [folder, name, source, licence] = process.argv.slice(2);
if (!folder || !name || !source || !licence) throw new Error("make.ts needs FOLDER NAME SOURCE LICENCE");
const { files, reasons } = readWeights(folder);
if (reasons.length > 0) throw new Error(reasons.map(({ detail }) => `${folder}: ${detail}`).join("\n"));
process.stdout.write(fingerprintText(fingerprint({ name, source, licence }, files)));
