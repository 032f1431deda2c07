import { expect, test } from 'vitest';
import { containsText } from '../../src/text-search.ts';
import { Random } from '../support/random.ts';

test('a long text is found in another text exactly if String.prototype.includes finds it', () => {
  const random = new Random(5);
  let found = 0;
  for (let round = 0; round < 400; round++) {
    const letters = ['a', 'b', 'é', '😀'].slice(0, 1 + random.below(4));
    const text = Array.from({ length: 4000 }, () =>
      random.below(40) === 0 ? letters[random.below(letters.length)] : 'a',
    ).join('');
    const at = random.below(text.length - 700);
    const cut = text.slice(at, at + 400 + random.below(300));
    const part = random.below(2) === 0 ? cut : `${cut.slice(0, 200)}b${cut.slice(201)}`;
    const expected = text.includes(part);
    if (expected) found++;
    expect(containsText(text, part)).toBe(expected);
  }
  expect(found).toBeGreaterThan(100);
  expect(found).toBeLessThan(390);
});

test('the work grows with the lengths of the texts, not with their product', () => {
  // String.prototype.includes takes two billion steps for each of these texts.
  const text = 'a'.repeat(64_000);
  for (let round = 0; round < 50; round++)
    expect(containsText(text, `${'a'.repeat(100 + round)}b${'a'.repeat(31_000)}`)).toBe(false);
  expect(containsText(text, 'a'.repeat(32_000))).toBe(true);
  expect(containsText(text, 'a'.repeat(64_001))).toBe(false);
  expect(containsText('abc', '')).toBe(true);
});
