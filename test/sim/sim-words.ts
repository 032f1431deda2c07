// The words of the texts in a simulation of text indexes, and searches for them. A hand-written
// table gives the stem of each word in each language, so that the model does not use the stemmer
// that it judges.

import type { Language } from '../../src/text/index.ts';
import type { Random } from '../support/random.ts';

/** The languages of the simulated indexes. */
export const SIM_LANGUAGES = ['none', 'english', 'german'] as const satisfies readonly Language[];
export type SimLanguage = (typeof SIM_LANGUAGES)[number];

/** Stems of the words that a language changes. */
const STEMS: Record<SimLanguage, Readonly<Record<string, string>>> = {
  none: {},
  english: {
    budgets: 'budget',
    travels: 'travel',
    travelled: 'travel',
    plans: 'plan',
    planned: 'plan',
    planning: 'plan',
    days: 'day',
    hauses: 'haus',
  },
  german: { budgets: 'budget', travels: 'travel', plans: 'plan', hauses: 'haus', kosten: 'kost' },
};

/** Frequent words come first. */
export const WORDS = [
  'plan',
  'the',
  'budget',
  'planned',
  'days',
  'travel',
  'kosten',
  'a',
  'Plans',
  'budgets',
  'travelled',
  'haus',
  'day',
  'x9',
  'planning',
  'kostet',
  'Hauses',
  'travels',
] as const;

/** Returns the term of a word as an index in the language has it. */
export function termOf(language: SimLanguage): (word: string) => string {
  const stems = STEMS[language];
  return (word) => stems[word] ?? word;
}

function word(random: Random): string {
  return WORDS[Math.min(random.below(WORDS.length), random.below(WORDS.length))]!;
}

/** Returns a text of few words, or of none. */
export function randomWords(random: Random): string {
  const count = random.chance(0.05) ? random.below(60) : random.below(8);
  const separator = [' ', ' ', ', ', '. ', ' - '][random.below(5)];
  return Array.from({ length: count }, () => word(random)).join(separator);
}

/** Returns a search with at least one part that does not only leave out texts. */
export function randomSearch(random: Random): string {
  const part = (): string => {
    const sign = random.chance(0.2) ? '+' : random.chance(0.2) ? '-' : '';
    const dice = random.below(10);
    if (dice < 2) return `${sign}"${word(random)} ${word(random)}"`;
    if (dice < 4) return `${sign}${word(random).slice(0, 1 + random.below(5))}*`;
    return `${sign}${word(random)}`;
  };
  const parts = Array.from({ length: 1 + random.below(4) }, part);
  if (parts.every((each) => each.startsWith('-'))) parts.push(word(random));
  return parts.join(' ');
}
