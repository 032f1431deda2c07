// Runs texts of 100 KB that are built to slow down the parser and the binder. Each must be
// answered, or refused with 400. `npm run bench -- texts` measures how long they take.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { CopyPlace } from './copy-place.ts';
import { largeTexts, TEXT_BYTES } from './large-texts.ts';

let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
});
afterAll(() => place.close());

test.each(largeTexts())(
  'a text of 100 KB is answered or refused with a reason: $name',
  async ({ text, parameters = {} }) => {
    expect(text.length).toBeLessThan(2 * TEXT_BYTES);
    if (Object.keys(parameters).length === 0) expect(text.length).toBeGreaterThan(TEXT_BYTES * 0.95);
    for (const form of [text, `EXPLAIN ${text}`]) {
      try {
        const { columns } = await place.run(form, parameters);
        expect(columns.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(HedgerowError);
        const { status, message } = error as HedgerowError;
        expect([400, 404, 409, 413]).toContain(status);
        expect(message.length).toBeGreaterThan(10);
        expect(message.length).toBeLessThan(2000);
      }
    }
  },
);
