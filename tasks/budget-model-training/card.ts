// The card of the public data.

export const card = `# house-stripes: the images of budget-model-training, smoke

Toy images made by tasks/budget-model-training/stripes.ts: stripes in four directions, 16 x 16 pixels, three colours.

- \`train.jsonl\` (400) and \`val.jsonl\` (80): one JSON object a line with \`image\` (a NumPy file of unsigned bytes, height x
  width x colours), \`image_id\` and \`class\`.
- The test images have the same form. Their labels are not here.

In \`provenance.json\` this data is called \`house-stripes\`. It stands in for AlgorithmicResearchGroup/budget_model_train.
`;
