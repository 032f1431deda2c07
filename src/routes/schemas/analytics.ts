// Schemas of measures: their list, requests and answers.

import { described, text, v } from '../../http/schema.ts';

const jsonSchema = (sentence: string) => described(v.record(v.string(), v.unknown()), sentence);

export const measureItem = v.object({
  measure: v.string(),
  about: v.string(),
  source: described(v.string(), 'Paper or book of its definition.'),
  params: jsonSchema('JSON Schema of its parameters.'),
  result: jsonSchema('JSON Schema of its result.'),
});

export const measureParameters = v.object({ table: text(), measure: text() });

export const measureBody = v.pipe(
  v.object({
    params: v.optional(
      described(
        v.record(v.string(), v.unknown()),
        'Parameters of the measure, start_ts and end_ts too: GET /v1/analytics lists them. None of them may be given outside this field.',
      ),
    ),
  }),
  v.examples([{ params: { start_ts: 0, end_ts: 2000000000 } }]),
);

const basis = v.nullable(v.picklist(['events', 'distinct']));

export const measureAnswer = v.object({
  measure: v.string(),
  table: v.string(),
  result: described(v.unknown(), 'As the measure describes it; an undefined value is null.'),
  definition: described(v.string(), 'The variant that was used.'),
  basis: described(basis, 'Whether equal member sets counted once; null where it makes no difference.'),
  params: described(v.record(v.string(), v.unknown()), 'The parameters as applied, with their defaults.'),
});
