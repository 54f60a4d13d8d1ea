// identity.json: how the weights of a submission relate to the models that its task gives, and to known models.
// Only tensors that the loaded model has are listed. The numbers depend on the processor in the last digits, so
// only the verdict reads them.
import * as t from "../schema.ts";

const tensorRelation = t.wholeObject({
  model: t.about(t.anyText, "the given model"),
  tensor: t.about(
    t.anyText,
    "its tensor that is nearest; empty: it has none of this name, and zeros were compared",
  ),
  by: t.about(
    t.oneOf("place", "part", "map", "rank", "near-rank", "mixture"),
    "place: value by value; part: with rows or columns removed or reordered; map: with the hidden dimension rotated, permuted, padded or cut; rank: the tensor on fewer directions; near-rank: of lower rank, and near the tensor; mixture: several tensors of its name, as the mean of two layers",
  ),
  values: t.about(t.oneOf("equal", "zeros", "other"), "equal: up to rounding; zeros: equal or zero"),
  cosine: t.about(t.number, "of the whole tensors, -1 to 1"),
  difference: t.about(t.number, "length of the difference over the length of the given tensor"),
  repeated: t.about(
    t.number,
    "largest share of rows or columns that are those of the given tensor for a second time",
  ),
});

const tensorIdentity = t.wholeObject({
  name: t.about(t.anyText, "the name in the loaded model; tied weights are listed once"),
  shape: t.listOf(t.count),
  finite: t.about(t.flag, "whether at least half of its values are numbers"),
  constant: t.about(t.flag, "whether all values are equal, as in norms that were folded"),
  relations: t.about(t.listOf(tensorRelation), "at most one for each given model"),
});
export type TensorIdentity = t.TypeOf<typeof tensorIdentity>;

const mixture = t.wholeObject({
  models: t.about(t.listOf(t.anyText), "those of the rule, in its order"),
  weights: t.about(
    t.listOf(t.number),
    "of each model, over all tensors, by least squares; they add up to one",
  ),
  tensors: t.listOf(
    t.wholeObject({
      name: t.anyText,
      size: t.about(t.count, "values"),
      residual: t.about(t.number, "what no weighted sum explains, over the length of the tensor"),
      allowed: t.about(t.number, "the residual that rounding gives"),
      outside: t.about(
        t.count,
        "values outside the range of the first model plus up to 20 times the others' differences",
      ),
    }),
  ),
});
export type Mixture = t.TypeOf<typeof mixture>;

const knownModel = t.wholeObject({
  model: t.about(t.anyText, "the publisher's name"),
  looked: t.about(t.count, "matrices of the submission"),
  matches: t.listOf(
    t.wholeObject({
      tensor: t.about(t.anyText, "of the submission"),
      known: t.about(t.anyText, "the tensor of the known model that is most alike"),
      by: t.about(
        t.oneOf("places", "sizes"),
        "values at many places; singular values and norms of rows and columns",
      ),
      likeness: t.about(t.number, "correlation, or one minus the relative difference of the sizes"),
    }),
  ),
});

export const identity = t.fileFormat(
  "mlrb identity",
  t.wholeExcept(["detail"], {
    formatVersion: { const: 1 },
    detail: t.about(t.anyText, "why nothing was compared"),
    given: t.listOf(
      t.wholeObject({
        model: t.anyText,
        values: t.about(t.count, "in all tensors of the given model"),
        unmapped: t.about(
          t.flag,
          "whether the submission may be a part of this model, and nothing shows which hidden units are left",
        ),
      }),
    ),
    tensors: t.listOf(tensorIdentity),
    mixtures: t.about(t.listOf(mixture), "one for each rule on mixtures"),
    known: t.about(t.listOf(knownModel), "one for each known model, if a rule asks"),
  }),
);
export type Identity = t.TypeOf<typeof identity>;
