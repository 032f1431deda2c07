// Names of months in widely spoken languages, as the platform spells them.

import { comparable } from './lookalikes.ts';

const LANGUAGES =
  'en de fr es pt it nl sv da nb fi pl cs sk hu ro bg uk ru el tr ar ar-LB fa he hi bn mr ta te ur id ms vi th sw ca hr sr sl lt lv et'.split(
    ' ',
  );

let months: Map<string, number> | undefined;

/** 1 to 12; undefined if the word (normalised by `comparable`) is not the name of a month. */
export function monthOf(word: string): number | undefined {
  months ??= new Map<string, number>([...LANGUAGES.flatMap(namesOfMonths).reverse(), ['sept', 9]]);
  return months.get(word.replace(/\.$/, ''));
}

function namesOfMonths(language: string): [string, number][] {
  // Many languages inflect a month next to its day.
  const forms = (['long', 'short'] as const).flatMap((month) => [
    { month },
    { month, day: 'numeric', year: 'numeric' } as const,
  ]);
  return forms.flatMap((form) => {
    const format = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC', calendar: 'gregory' });
    return Array.from({ length: 12 }, (_, index): [string, number] => {
      const parts = format.formatToParts(Date.UTC(2023, index, 14));
      return [comparable(parts.find(({ type }) => type === 'month')?.value ?? '').replace(/\.$/, ''), index + 1];
    }).filter(([name]) => /^[\p{L}\p{M}]{2,}$/u.test(name));
  });
}
