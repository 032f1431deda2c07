import { expect, test } from 'vitest';
import { sortedTexts } from '../../src/core/sorted-texts.ts';
import { compareTexts } from '../../src/model/text-order.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';

test.each([
  ['plain texts', ['a', 'b', 'é', '￼']],
  ['texts of which some have a surrogate', ['a', 'b', '￼', '😀']],
])('%s are sorted by code points in bounded steps', (_, letters) => {
  const random = new Random(3);
  for (const count of [0, 1, 2, 511, 512, 513, 5000]) {
    const texts = Array.from({ length: count }, () =>
      Array.from({ length: 1 + random.below(6) }, () => letters[random.below(letters.length)]).join(''),
    );
    expect(finish(sortedTexts(texts))).toEqual([...texts].sort(compareTexts));
  }
  let steps = 0;
  for (const _step of sortedTexts(Array.from({ length: 100_000 }, (_each, place) => `w${(place * 7919) % 100_003}`)))
    steps++;
  expect(steps).toBeGreaterThan(250);
});

test('one text with a surrogate among many without is in its place', () => {
  const texts = ['😀', ...Array.from({ length: 600 }, (_, place) => `￼${place}`)];
  expect(finish(sortedTexts(texts)).at(-1)).toBe('😀');
});
