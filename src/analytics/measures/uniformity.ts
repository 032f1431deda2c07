// Computes uniformity: whether all edges have the same size, and how sizes are distributed.

import { basisOf, basisParameter, type Measure, WINDOW } from '../measure.ts';

export const uniformity: Measure = {
  name: 'uniformity',
  about: 'Share of the edges that have the most common size, and how the sizes are distributed.',
  source: 'k-uniform hypergraphs: Berge 1973, Graphs and Hypergraphs.',
  parameters: [basisParameter('events'), ...WINDOW],
  result: {
    type: 'object',
    properties: {
      value: { type: 'number' },
      is_uniform: { type: 'boolean' },
      k: { type: ['integer', 'null'], description: 'The size of all edges, if they have the same size.' },
      modal_size: { type: ['integer', 'null'], description: 'The most common size, the smallest on a tie.' },
      mean: { type: 'number' },
      std: { type: 'number', description: 'Population standard deviation.' },
      cv: { type: 'number', description: 'std / mean.' },
      histogram: { type: 'object', additionalProperties: { type: 'integer' }, description: 'Number of edges by size.' },
    },
  },
  *run({ projections }, params) {
    const basis = basisOf(params, 'events');
    const sizes = (yield* projections.incidence(basis)).copySizes();
    return { shape: { kind: 'value', value: uniformityOf(sizes) }, definition: 'modal_share', basis };
  },
};

function uniformityOf(sizes: Uint32Array): Record<string, unknown> {
  const counts = new Map<number, number>();
  let sum = 0;
  for (const size of sizes) {
    counts.set(size, (counts.get(size) ?? 0) + 1);
    sum += size;
  }
  const entries = [...counts].sort(([a], [b]) => a - b);
  const [modal, most] = entries.reduce(
    (best, entry) => (entry[1] > best[1] ? entry : best),
    [null as number | null, 0],
  );
  const mean = sizes.length === 0 ? 0 : sum / sizes.length;
  let squares = 0;
  for (const [size, count] of entries) squares += count * (size - mean) ** 2;
  const std = sizes.length === 0 ? 0 : Math.sqrt(squares / sizes.length);
  return {
    value: sizes.length === 0 ? 0 : most / sizes.length,
    is_uniform: entries.length === 1,
    k: entries.length === 1 ? modal : null,
    modal_size: modal,
    mean,
    std,
    cv: mean === 0 ? 0 : std / mean,
    histogram: Object.fromEntries(entries),
  };
}
