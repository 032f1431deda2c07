// Sends statements that try to crash the service, which has a heap of 300 MB here. The long form is
// `npm run statements`.

import { expect, test } from 'vitest';
import { runHostile } from './statement-run.ts';

test('hostile statements are answered or refused with a reason, and the service survives', {
  timeout: 300_000,
}, async () => {
  const { statuses, failures } = await runHostile(300, 16);
  expect(failures).toEqual([]);
  expect(statuses[200]).toBeGreaterThan(30);
  expect(statuses[400]).toBeGreaterThan(30);
});
