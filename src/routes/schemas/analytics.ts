// Schemas of measures: their list, requests and answers.

import { described, text, v } from '../../http/schema.ts';

const jsonSchema = (sentence: string) => described(v.record(v.string(), v.unknown()), sentence);

export const measureItem = v.object({
  measure: v.string(),
  about: v.string(),
  source: described(v.string(), 'Paper or book that defines the measure.'),
  params: jsonSchema('JSON Schema of the parameters.'),
  result: jsonSchema('JSON Schema of the result.'),
});

export const measureParameters = v.object({ table: text(), measure: text() });

export const measureQuery = v.object({
  members: v.optional(
    described(v.literal('numbers'), 'Shows nodes of a named table by their internal numbers instead of their keys.'),
  ),
});

export const measureBody = v.pipe(
  v.object({
    params: v.optional(
      described(
        v.record(v.string(), v.unknown()),
        'Parameters of the measure, including start_ts and end_ts; GET /v1/analytics lists them. They must all be in this field.',
      ),
    ),
  }),
  v.examples([{ params: { start_ts: 0, end_ts: 2000000000 } }]),
);

const basis = v.nullable(v.picklist(['events', 'distinct']));

export const measureAnswer = v.object({
  measure: v.string(),
  table: v.string(),
  result: described(v.unknown(), 'Has the form that the measure describes; an undefined value is null.'),
  definition: described(v.string(), 'The variant that was used.'),
  basis: described(
    basis,
    'Whether each edge was counted, or edges with equal members only once; null if it makes no difference.',
  ),
  params: described(v.record(v.string(), v.unknown()), 'The parameters as applied, with their defaults.'),
});
