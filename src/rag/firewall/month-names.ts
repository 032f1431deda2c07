// Names of months in widely spoken languages, as the platform spells them.

import { comparable } from './lookalikes.ts';

const LANGUAGES =
  'en de fr es pt it nl sv da nb fi pl cs sk hu ro bg uk ru el tr ar ar-LB fa he hi bn mr ta te ur id ms vi th sw ca hr sr sl lt lv et'.split(
    ' ',
  );

let months: Map<string, number> | undefined;

/** 1 to 12; undefined if the word (normalised by `comparable`) is not the name of a month. */
export function monthOf(word: string): number | undefined {
  months ??= namesOfMonths();
  return months.get(word.replace(/\.$/, ''));
}

function namesOfMonths(): Map<string, number> {
  const names = new Map<string, number>([['sept', 9]]);
  for (const language of LANGUAGES) {
    for (const month of ['long', 'short'] as const) {
      // Many languages inflect a month next to its day.
      const forms = [{ month }, { month, day: 'numeric', year: 'numeric' }] as const;
      for (const form of forms) {
        const format = new Intl.DateTimeFormat(language, { ...form, timeZone: 'UTC', calendar: 'gregory' });
        for (let index = 0; index < 12; index++) {
          const parts = format.formatToParts(Date.UTC(2023, index, 14));
          const name = comparable(parts.find(({ type }) => type === 'month')?.value ?? '').replace(/\.$/, '');
          if (/^[\p{L}\p{M}]{2,}$/u.test(name) && !names.has(name)) names.set(name, index + 1);
        }
      }
    }
  }
  return names;
}
