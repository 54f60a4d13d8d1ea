// The card of the public data.

export const card = `# house-digits: the images of budget-model-inference, smoke

Toy images made by tasks/budget-model-inference/digits.ts: three to five digits of 3 x 5 pixels at random places, 24 x 24
grey pixels with noise. The label is the sum of the digits, at most 27.

- \`train.jsonl\` (800): one JSON object a line with \`image\` (a NumPy file of unsigned bytes, height x width), \`image_id\` and
  \`digit_sum\`.
- The test images have the same form. Their labels are not here.

In \`provenance.json\` this data is called \`house-digits\`. It stands in for AlgorithmicResearchGroup/budget_model_inference.
`;
