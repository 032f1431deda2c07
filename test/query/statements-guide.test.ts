// Runs every statement in the guide to the statement language, in order.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CopyPlace } from './copy-place.ts';

const GUIDE = readFileSync(new URL('../../src/query/STATEMENTS.md', import.meta.url), 'utf8');
const STATEMENTS = [...GUIDE.matchAll(/^```\n(.*?)^```$/gms)]
  .map(([, block]) => block!)
  .filter((block) => !block.startsWith('curl'))
  .flatMap((block) => block.split(/;$/m).map((text) => text.trim()))
  .filter((text) => text !== '');

let place: CopyPlace;
let session: ReturnType<CopyPlace['statements']>;
beforeAll(async () => {
  place = await CopyPlace.open();
  session = place.statements();
});
afterAll(() => place.close());

test('the guide has statements of every kind', () => {
  const kinds = new Set(STATEMENTS.map((text) => /^\w+/.exec(text)![0]));
  expect([...kinds].sort()).toEqual(
    'ALTER ANALYZE BEGIN COMPACT CREATE DELETE EXPLAIN INSERT MATCH ROLLBACK SHOW UPDATE'.split(' '),
  );
});

test.each(STATEMENTS)("the guide's statement runs: %s", async (text) => {
  const { rows } = await place.run(text, {}, {}, session);
  // Every search in the guide finds something, so that the reader sees its effect.
  if (/^(MATCH|SHOW|EXPLAIN|ANALYZE|UPDATE|DELETE)/.test(text)) expect(rows.length).toBeGreaterThan(0);
  if (/^(UPDATE|DELETE)/.test(text)) expect(rows[0]!.rows_affected).toBeGreaterThan(0);
  if (text.includes('Anna')) expect(rows[0]!.meetings ?? rows[0]!.rows_affected).not.toBe(0);
});
