// The words of a problem that a check against a schema found: the field, what it is and what it is not.
import type { ErrorObject } from "ajv";

/** The last error is that of the whole value. The errors of a union's variants come before it. */
export function causeOf(errors: ErrorObject[]): string {
  const { keyword, instancePath, params, data, message, parentSchema } = errors.at(-1)!;
  const path = instancePath.split("/").slice(1).map(unescaped);
  const field = path.length === 0 ? "the file" : path.join(".");
  switch (keyword) {
    case "type":
      return `${field} is ${valueWords(data)}, not ${[params.type].flat().map(typeWords).join(" or ")}`;
    case "required":
      return `${[...path, params.missingProperty].join(".")} is missing`;
    case "const":
      return `${field} is ${valueWords(data)}, not ${JSON.stringify(params.allowedValue)}`;
    case "enum":
      return `${field} is ${valueWords(data)}, not one of ${params.allowedValues.join(", ")}`;
    case "discriminator": {
      const tags = parentSchema!.oneOf.flatMap(({ properties }: Tagged) => {
        const { const: tag, enum: tags = [tag] } = properties[params.tag]!;
        return tags;
      });
      return `${[...path, params.tag].join(".")} is ${valueWords(params.tagValue)}, not one of ${tags.join(", ")}`;
    }
    case "oneOf":
    case "anyOf": {
      if (params.passingSchemas) {
        const both = params.passingSchemas.flatMap((at: number) => parentSchema!.oneOf[at].required ?? []);
        return `${field} has ${both.join(" and ")}, and may have one of them`;
      }
      return causeOfVariants(errors);
    }
    case "uniqueItems":
      return `${field} lists ${valueWords((data as unknown[])[params.i])} twice`;
    case "additionalProperties":
      return `${[...path, params.additionalProperty].join(".")} is not known`;
    case "minItems":
    case "minLength":
    case "minProperties":
      if (params.limit === 1) return `${field} is empty`;
      return `${field} is ${valueWords(data)}: it ${message}`;
    default:
      return `${field} is ${valueWords(data)}: it ${message}`;
  }
}

type Tagged = { properties: Record<string, { const?: unknown; enum?: unknown[] }> };

/** `errors` end with that of a union, after those of its variants. The variant that fits best gives the cause. */
function causeOfVariants(errors: ErrorObject[]): string {
  const { instancePath: place, schemaPath } = errors.at(-1)!;
  const variants = errors.filter((error) => error.schemaPath.startsWith(`${schemaPath}/`));
  const isOfType = ({ keyword, instancePath }: ErrorObject) =>
    (keyword === "type" || isUnion(keyword)) && instancePath === place;
  const near = variants.filter((error) => !isOfType(error));
  const within = near.filter(({ instancePath }) => instancePath.length > place.length);
  const telling = within.length > 0 ? within : near;
  if (telling.length > 0) return causeOf(isUnion(telling.at(-1)!.keyword) ? telling : [telling[0]!]);
  const types = variants.flatMap(({ keyword, params }) => (keyword === "type" ? params.type : []));
  return causeOf([{ ...errors.at(-1)!, keyword: "type", params: { type: types } }]);
}

/** Without the errors of a union's variants, which its own error tells. */
export function outsideUnions(errors: ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => isUnion(keyword));
  return errors.filter(
    (error) => !unions.some(({ schemaPath }) => error.schemaPath.startsWith(`${schemaPath}/`)),
  );
}

function isUnion(keyword: string): boolean {
  return keyword === "anyOf" || keyword === "oneOf";
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~").slice(0, 80); // names may be as long as the file
}

const typeNames: Record<string, string> = {
  array: "a list",
  object: "an object",
  string: "a text",
  integer: "a whole number",
  number: "a finite number",
  boolean: "true or false",
  null: "null",
};

function typeWords(type: string): string {
  return typeNames[type] ?? type;
}

export function valueWords(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (value !== null && typeof value === "object") return "an object";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
}
