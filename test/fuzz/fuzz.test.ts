// Feeds 50,000 mutated inputs to all decoders and parsers. The long form is `npm run fuzz`.

import { expect, test } from 'vitest';
import { fuzzAll } from './all-targets.ts';

test('mutated inputs give a value or a typed error, never a trap, a hang or a stack', {
  timeout: 600_000,
}, async () => {
  const all = await fuzzAll(50_000, 15, undefined);
  expect(all.flatMap(({ failures }) => failures)).toEqual([]);
  expect(all.reduce((sum, { inputs }) => sum + inputs, 0)).toBeGreaterThan(50_000);
});
