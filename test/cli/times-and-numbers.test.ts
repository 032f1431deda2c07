// Times and numbers as people write them: month names, strptime patterns, decimal commas and
// thousands separators.

import { describe, expect, test } from 'vitest';
import { decimalOf, plainNumber } from '../../src/tabular/number-style.ts';
import { strptime } from '../../src/tabular/strptime.ts';
import { secondsIn } from '../../src/tabular/times.ts';

const shown = (seconds: number) => (Number.isNaN(seconds) ? '' : new Date(seconds * 1000).toISOString().slice(0, 19));

describe('months as words', () => {
  test.each([
    ['14 March 2024', '2024-03-14T00:00:00'],
    ['14 MAR 2024, 8:15', '2024-03-14T08:15:00'],
    ['Mar. 14th, 2024 at 12:00 am', '2024-03-14T00:00:00'],
    ['14/Mar/2024:08:15:30 +0100', '2024-03-14T07:15:30'],
    ['Thu Mar 14 08:15:30 2024', '2024-03-14T08:15:30'],
    ['Thu, 14 Mar 2024 08:15:30 GMT', '2024-03-14T08:15:30'],
    ['14. Jänner 2024', '2024-01-14T00:00:00'],
    ['14. marraskuuta 2024', '2024-11-14T00:00:00'],
    ['14. září 2024', '2024-09-14T00:00:00'],
    ['14 de março de 2024', '2024-03-14T00:00:00'],
    ['2024年3月14日 08:15', '2024-03-14T08:15:00'],
    ['30 February 2024', ''],
    ['14 Marsh 2024', ''],
    ['Foo, 14 March 2024', ''],
    ['14 March 2024 25:00', ''],
    ['14 March 2024 13:00 pm', ''],
    ['March', ''],
  ])('are read or refused: %s', (text, time) => {
    expect(shown(secondsIn(text, 'iso'))).toBe(time);
    expect(shown(secondsIn(text, 'dmy'))).toBe(time);
  });

  test('are not searched for in a long text', () => {
    expect(secondsIn(`${'14 March '.repeat(20_000)}2024`, 'iso')).toBeNaN();
    expect(secondsIn(`${'a'.repeat(100_000)} ${' '.repeat(100_000)}`, 'iso')).toBeNaN();
  });
});

describe('patterns of strptime', () => {
  test.each([
    ['%d.%m.%y %H:%M', '14.03.24 8:15', '2024-03-14T08:15:00'],
    ['%y%m%d', '690314', '1969-03-14T00:00:00'],
    ['%Y%m%d%H%M%S', '20240314081530', '2024-03-14T08:15:30'],
    ['%d %b %Y', '14 März 2024', '2024-03-14T00:00:00'],
    ['%A, %B %e, %Y', 'Thursday, March 14, 2024', '2024-03-14T00:00:00'],
    ['%I:%M %p %D', '12:05 AM 3/14/24', '2024-03-14T00:05:00'],
    ['%FT%T.%f%z', '2024-03-14T08:15:30.250+02:00', '2024-03-14T06:15:30'],
    ['%Y-%j', '2024-366', '2024-12-31T00:00:00'],
    ['at %s.', 'at 86400.', '1970-01-02T00:00:00'],
    ['100%% %Y (%m)', '100% 2024 (3)', '2024-03-01T00:00:00'],
    ['%d.%m.%y', '30.02.24', ''],
    ['%H:%M %Y', '24:00 2024', ''],
    ['%Y-%j', '2023-366', ''],
    ['%d.%m.%y', '14.03.24 8:15', ''],
    ['%a %Y', 'Foo 2024', ''],
  ])('parse texts: %s applied to %s gives %j', (pattern, text, time) => {
    expect(shown(strptime(pattern).secondsOf(text))).toBe(time);
  });

  test.each([
    ['%d.%m.%q', '%q is not a directive'],
    ['%d.%m.%Y %', '% is not a directive'],
    ['%d.%m', 'no year'],
    ['%Y %Y', 'twice'],
    ['%constructor %Y', '%c is not a directive'],
  ])('are refused if they are invalid: %s', (pattern, message) => {
    expect(() => strptime(pattern)).toThrow(message);
  });
});

describe('numbers', () => {
  test.each<[string, ',' | '.', string | undefined]>([
    ['1.234,50', ',', '1234.50'],
    ['-1.234.567', ',', '-1234567'],
    ['1.234', ',', '1234'],
    ['1.23', ',', undefined],
    [',5', ',', '0.5'],
    ['-,5', ',', '-0.5'],
    ['1,234.50', '.', '1234.50'],
    ['1,234', '.', '1234'],
    ['1,23', '.', undefined],
    ["1'234", '.', '1234'],
    ['1 234 567', '.', '1234567'],
    ['1.234.567,1.2', ',', undefined],
    ['1.5e3', '.', '1.5e3'],
    ['1.5e3', ',', undefined],
    ['word', ',', 'word'],
    ['12', ',', '12'],
    ['1e5', ',', '1e5'],
  ])('are read with a decimal sign: %s with %s as %s', (text, decimal, number) => {
    expect(plainNumber(text, decimal)).toBe(number);
  });

  test.each<[string, string[][], boolean, string | undefined]>([
    ['a comma and two digits', [['12,50', '3']], false, ','],
    ['a comma and three digits', [['1,250']], false, undefined],
    ['three digits, and none before the comma but 0', [['0,250']], false, ','],
    ['two thousands separators', [['1,250,000']], false, '.'],
    ['points in another column', [['1,250'], ['2.5']], false, '.'],
    ['commas in one column, points in another', [['1,25'], ['2.5']], false, undefined],
    ['a text among them', [['1,25', 'none of it']], false, undefined],
    ['both in one column', [['12,5', '1.10']], false, undefined],
    ['cells that could be lists', [['1,25']], true, undefined],
    ['cells that cannot be lists', [['1.000,25']], true, ','],
  ])('have a detected decimal sign or none: %s', (_name, columns, isList, decimal) => {
    expect(decimalOf(columns, isList)).toBe(decimal);
  });
});
