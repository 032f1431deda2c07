import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONG_TESTS } from './long-tests.ts';

test('each file in the list of long tests exists and is listed once', () => {
  expect(LONG_TESTS.filter((path) => !existsSync(path))).toEqual([]);
  expect(new Set(LONG_TESTS).size).toBe(LONG_TESTS.length);
});
