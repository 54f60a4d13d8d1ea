// identity.json: how the weights of a submission relate to the models that its task gives, and to known models. Only tensors that the loaded
// model has are listed. The numbers depend on the processor in the last digits, so only the verdict reads them.
import {
  anyText,
  count,
  fileFormat,
  flag,
  listOf,
  number,
  oneOf,
  type TypeOf,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

const tensorRelation = wholeObject({
  model: { ...anyText, description: "the given model" },
  tensor: {
    ...anyText,
    description: "its tensor that is nearest; empty: it has none of this name, and zeros were compared",
  },
  by: {
    ...oneOf("place", "part", "map", "rank", "near-rank", "mixture"),
    description:
      "place: value by value; part: with rows or columns removed or reordered; map: with the hidden dimension rotated, permuted, padded or cut; rank: the tensor on fewer directions; near-rank: of lower rank, and near the tensor; mixture: several tensors of its name, as the mean of two layers",
  },
  values: {
    ...oneOf("equal", "zeros", "other"),
    description: "equal: up to rounding; zeros: equal or zero",
  },
  cosine: { ...number, description: "of the whole tensors, -1 to 1" },
  difference: { ...number, description: "length of the difference over the length of the given tensor" },
  repeated: {
    ...number,
    description: "largest share of rows or columns that are those of the given tensor for a second time",
  },
});

const tensorIdentity = wholeObject({
  name: { ...anyText, description: "the name in the loaded model; tied weights are listed once" },
  shape: listOf(count),
  finite: { ...flag, description: "whether at least half of its values are numbers" },
  constant: { ...flag, description: "whether all values are equal, as in norms that were folded" },
  relations: { ...listOf(tensorRelation), description: "at most one for each given model" },
});
export type TensorIdentity = TypeOf<typeof tensorIdentity>;

const mixture = wholeObject({
  models: { ...listOf(anyText), description: "those of the rule, in its order" },
  weights: {
    ...listOf(number),
    description: "of each model, over all tensors, by least squares; they add up to one",
  },
  tensors: listOf(
    wholeObject({
      name: anyText,
      size: { ...count, description: "values" },
      residual: { ...number, description: "what no weighted sum explains, over the length of the tensor" },
      allowed: { ...number, description: "the residual that rounding gives" },
      outside: {
        ...count,
        description:
          "values outside the range of the first model plus up to 20 times the others' differences",
      },
    }),
  ),
});
export type Mixture = TypeOf<typeof mixture>;

const knownModel = wholeObject({
  model: { ...anyText, description: "the publisher's name" },
  looked: { ...count, description: "matrices of the submission" },
  matches: listOf(
    wholeObject({
      tensor: { ...anyText, description: "of the submission" },
      known: { ...anyText, description: "the tensor of the known model that is most alike" },
      by: {
        ...oneOf("places", "sizes"),
        description: "values at many places; singular values and norms of rows and columns",
      },
      likeness: { ...number, description: "correlation, or one minus the relative difference of the sizes" },
    }),
  ),
});

export const identity = fileFormat(
  "mlrb identity",
  wholeExcept(["detail"], {
    formatVersion: { const: 1 },
    detail: { ...anyText, description: "why nothing was compared" },
    given: listOf(
      wholeObject({
        model: anyText,
        values: { ...count, description: "in all tensors of the given model" },
        unmapped: {
          ...flag,
          description:
            "whether the submission may be a part of this model, and nothing shows which hidden units are left",
        },
      }),
    ),
    tensors: listOf(tensorIdentity),
    mixtures: { ...listOf(mixture), description: "one for each rule on mixtures" },
    known: { ...listOf(knownModel), description: "one for each known model, if a rule asks" },
  }),
);
export type Identity = TypeOf<typeof identity>;
