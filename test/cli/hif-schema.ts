// The schema of HIF v0.1 from its documentation (https://github.com/HIF-org/HIF-standard), used to
// validate exports.

const ID = { type: ['string', 'integer'] };
const WEIGHT = { type: 'number' };
const ATTRS = { type: 'object' };

function listOf(required: readonly string[], properties: object) {
  return { type: 'array', items: { type: 'object', properties, required, additionalProperties: false } };
}

export const HIF_SCHEMA = {
  type: 'object',
  properties: {
    'network-type': { enum: ['undirected', 'directed', 'asc'] },
    metadata: { type: 'object' },
    incidences: listOf(['edge', 'node'], {
      edge: ID,
      node: ID,
      weight: WEIGHT,
      direction: { enum: ['head', 'tail'] },
      attrs: ATTRS,
    }),
    nodes: listOf(['node'], { node: ID, weight: WEIGHT, attrs: ATTRS }),
    edges: listOf(['edge'], { edge: ID, weight: WEIGHT, attrs: ATTRS }),
  },
  required: ['incidences'],
  additionalProperties: false,
};
