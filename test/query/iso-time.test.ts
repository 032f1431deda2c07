// Tests the conversion of ISO 8601 times to seconds and back, by comparison with Date if Date
// supports the form and the year.

import { describe, expect, test } from 'vitest';
import { isoDay, isoDays, isoSeconds, isoTime, timeProblem } from '../../src/iso-time.ts';
import { Random } from '../support/random.ts';

/**
 * Returns the seconds that Date finds for a date or for a time with a zone. Date takes 30 February
 * as 1 March.
 */
function judged(text: string): number | undefined {
  const ms = Date.parse(text.replace(' ', 'T'));
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

const two = (number: number) => String(number).padStart(2, '0');

describe('the conversion of a text to seconds', () => {
  test.each([
    ['1970-01-01', 0],
    ['2024-05-02', 1_714_608_000],
    ['2024-05-02T10:00', 1_714_644_000],
    ['2024-05-02 10:00:00', 1_714_644_000],
    ['2024-05-02t10:00:00z', 1_714_644_000],
    ['2024-05-02T10:00:00.999999999Z', 1_714_644_000],
    ['2024-05-02T10:00:00,5Z', 1_714_644_000],
    ['1969-12-31T23:59:59.5Z', -1],
    ['2024-05-02T10:00:00+02:00', 1_714_636_800],
    ['2024-05-02T10:00:00+0200', 1_714_636_800],
    ['2024-05-02T10:00:00+02', 1_714_636_800],
    ['2024-05-02T10:00:00-23:59', 1_714_730_340],
    ['2024-05-02T10:00:00-00:00', 1_714_644_000],
    ['2024-05-02T24:00:00Z', 1_714_694_400],
    ['2024-02-29', 1_709_164_800],
    ['2000-02-29', 951_782_400],
    ['0000-01-01', -62_167_219_200],
    ['0000-02-29T00:00:00Z', -62_162_121_600],
    ['9999-12-31T23:59:59Z', 253_402_300_799],
    ['+010000-01-01', 253_402_300_800],
    ['-000001-12-31', -62_167_305_600],
    ['+275760-09-13T00:00:00Z', 8_640_000_000_000],
    ['+285428681-01-01', 9_007_197_018_595_200],
  ])('turns %s into %d', (text, seconds) => {
    expect(isoSeconds(text)).toBe(seconds);
  });

  test.each(
    [
      '',
      ' ',
      'now',
      '2024',
      '2024-05',
      '2024-5-2',
      '20240502',
      '2024-05-02T',
      '2024-05-02T10',
      '2024-05-02T10:00:60Z',
      '2016-12-31T23:59:60Z',
      '2024-05-02T24:00:01Z',
      '2024-05-02T24:00:00.5Z',
      '2024-05-02T25:00Z',
      '2024-05-02T10:60Z',
      '2024-05-02T10:00:00+24:00',
      '2024-05-02T10:00:00+02:60',
      '2024-05-02T10:00:00 02:00',
      '2024-05-02Z',
      '2024-05-02+02:00',
      '2023-02-29',
      '1900-02-29',
      '2024-02-30',
      '2024-04-31',
      '2024-00-10',
      '2024-13-10',
      '2024-05-00',
      '-000000-01-01',
      '+2024-05-02',
      '-2024-05-02',
      '+999999999-01-01',
      '+1000000000-01-01',
      ' 2024-05-02',
      '2024-05-02 ',
      '2024-05-02\n',
      '２０２４-05-02',
      '2024-05-02\0',
      '2024-05-02\ud800',
      '\udfff',
      '02.05.2024',
      '5/2/2024',
      'Thu, 02 May 2024 10:00:00 GMT',
      '1714608000',
      '-1',
      '1e9',
      `2024-05-02T10:00:00.${'1'.repeat(100_000)}Z`,
      `${'9'.repeat(100_000)}-05-02`,
      '2'.repeat(100_000),
    ].map((text) => [JSON.stringify(text).slice(0, 40), text] as const),
  )('refuses %s', (_, text) => {
    expect(isoSeconds(text)).toBeUndefined();
    expect(timeProblem(text)).toMatch(/ISO 8601|does not exist|%2B/);
    expect(timeProblem(text).length).toBeLessThan(200);
  });

  test('agrees with Date for random texts', () => {
    const random = new Random(5);
    for (let round = 0; round < 20_000; round++) {
      const year = String(random.below(10_000)).padStart(4, '0');
      const [month, day] = [random.below(14), 1 + random.below(28)];
      const date = `${year}-${two(month)}-${two(day)}`;
      const seconds = random.chance(0.5)
        ? `:${two(random.below(62))}${random.chance(0.3) ? `.${random.below(1000)}` : ''}`
        : '';
      const zone = random.chance(0.5)
        ? 'Z'
        : `${random.chance(0.5) ? '+' : '-'}${two(random.below(25))}:${two(random.below(61))}`;
      const clock = `${two(random.below(24))}:${two(random.below(61))}${seconds}${zone}`;
      const text = random.chance(0.2) ? date : `${date}${random.chance(0.5) ? 'T' : ' '}${clock}`;
      expect([text, isoSeconds(text)]).toEqual([text, judged(text)]);
    }
  });
});

describe('the conversion of seconds to a text', () => {
  test('gives the text that Date writes, in the years that Date supports', () => {
    const random = new Random(6);
    for (let round = 0; round < 20_000; round++) {
      const most = random.chance(0.5) ? 2 ** 32 : 8.64e12;
      const seconds = Math.floor((random.below(2 ** 31) / 2 ** 31) * most) * (random.chance(0.5) ? 1 : -1);
      expect(isoTime(seconds)).toBe(new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'));
    }
  });

  test('gives a text that is converted back to the same second', () => {
    const random = new Random(7);
    const ends = [0, -1, 253_402_300_799, 253_402_300_800, -62_167_219_200, -62_167_219_201];
    const all = [...ends, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    for (let round = 0; round < 20_000; round++) {
      const seconds =
        all[round] ?? (random.below(2 ** 31) * 2 ** 22 + random.below(2 ** 22)) * (random.chance(0.5) ? 1 : -1);
      const text = isoTime(seconds);
      expect([text, isoSeconds(text)]).toEqual([text, seconds]);
      const days = Math.floor(seconds / 86_400);
      // At the very ends of the range the start of the day is not a safe integer.
      if (Number.isSafeInteger(days * 86_400)) expect(isoDays(isoDay(days))).toBe(days);
    }
  });

  test('gives milliseconds if there is a fraction of a second', () => {
    expect(isoTime(0.5)).toBe('1970-01-01T00:00:00.500Z');
    expect(isoTime(-0.25)).toBe('1969-12-31T23:59:59.750Z');
    expect(isoTime(1e-9)).toBe('1970-01-01T00:00:00Z');
  });

  test('gives a text that isoDays refuses, because it has a date and a time', () => {
    expect(isoDays('1970-01-02')).toBe(1);
    expect(isoDays('1970-01-02T00:00:00Z')).toBeUndefined();
  });
});
