// Tests that what the first question needs is prepared in many steps, and only once.

import { expect, it, vi } from 'vitest';

it('prepares the first question in steps, and leaves nothing to prepare', async () => {
  vi.resetModules();
  const { warmUpChecks, warmUpQuestions } = await import('../../src/rag/warm-up.ts');
  const { loadMonths, monthOf } = await import('../../src/rag/firewall/answer-times.ts');
  const { loadDates } = await import('../../src/rag/question/written-dates.ts');
  // One step for each module, two for each parser of dates, one for each language, and several for
  // what is compiled or loaded at the first use of expressions and locales.
  expect([...warmUpQuestions()].length).toBeGreaterThan(55);
  expect([...warmUpChecks()].length).toBeGreaterThan(95);
  expect([...warmUpQuestions(), ...warmUpChecks()]).toEqual([]);
  expect([...loadMonths()]).toEqual([]);
  expect([...loadDates()]).toEqual([]);
  expect(monthOf('mai')).toBe(5);
});

it('knows the names of months before they were loaded, or when only some were', async () => {
  vi.resetModules();
  const { loadMonths, monthOf } = await import('../../src/rag/firewall/answer-times.ts');
  loadMonths().next();
  expect([monthOf('january'), monthOf('juillet'), monthOf('sept'), monthOf('smarch')]).toEqual([1, 7, 9, undefined]);
});
