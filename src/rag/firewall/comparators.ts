// Recognises the words before a time or number that make it a bound, such as since, after, before,
// until, between, more than and at most.

/**
 * `since` and `until` include the bound itself. `between` means that the value is one end of a
 * range.
 */
export type Bound = 'equal' | 'since' | 'after' | 'before' | 'until' | 'between';

const WORDS: Readonly<Record<Exclude<Bound, 'equal'>, string>> = {
  between: 'between|from|zwischen|von|entre|depuis|desde|между|с',
  since:
    'since|starting|starting from|at least|no less than|no fewer than|not less than|no earlier than|not earlier than|on or after|minimum of|>=|\u2265|seit|ab|mindestens|depuis|au moins|desde|al menos|не менее',
  after:
    'after|later than|following|more than|greater than|larger than|higher than|over|above|exceed|exceeds|exceeded|exceeding|>|nach|mehr als|\u00fcber|apr\u00e8s|plus de|despu\u00e9s de|despu\u00e9s del|m\u00e1s de|после|более',
  before:
    'before|earlier than|prior to|less than|fewer than|smaller than|lower than|below|under|<|vor|weniger als|unter|avant|moins de|antes de|antes del|menos de|менее',
  until:
    "until|till|up to|by|at most|no more than|not more than|no later than|not later than|on or before|maximum of|<=|\u2264|bis|h\u00f6chstens|jusqu'\u00e0|jusqu'au|au plus|hasta|a lo sumo|до",
};
const BOUND_OF = new Map(
  Object.entries(WORDS).flatMap(([bound, words]) => words.split('|').map((word) => [word, bound as Bound] as const)),
);
/**
 * The last words of the phrases in `WORDS`, and articles that may follow. They are tested first,
 * because `BEFORE` is slow.
 */
const LAST_WORDS = new Set(
  [...BOUND_OF.keys()].map((words) => words.split(' ').at(-1)!).concat('the le el la den dem am'.split(' ')),
);
const LAST_WORD = /(?<![\p{L}'])([\p{L}']{1,12}|[<>=\u2264\u2265]{1,2})\s*["'(*_`]*$/u;
const LONGEST = 18;
const BEFORE = new RegExp(
  `(?:^|[^\\p{L}\\p{N}_])(${[...BOUND_OF.keys()].sort((a, b) => b.length - a.length).join('|')})\\s*(?:(?:the|le|el|la|den|dem|am)\\s+)?["'(*_\`]*$`,
  'iu',
);
/** Matches the text between the two ends of a pair. */
export const PAIR =
  /^["')*_`]*\s*(?:and|to|till|until|through|und|bis|et|à|y|a|hasta|и|по|до|-|\u2013|\u2014)\s*["'(*_`]*$/iu;

/** Returns the kind of bound that the value at `start` is, judging by the text before it. */
export function boundBefore(text: string, start: number): Bound {
  const before = text.slice(Math.max(0, start - LONGEST - 8), start);
  const last = LAST_WORD.exec(before)?.[1];
  if (last === undefined || !LAST_WORDS.has(last.toLowerCase())) return 'equal'; // the usual case
  const [, words] = BEFORE.exec(before) ?? [];
  return BOUND_OF.get(words?.toLowerCase() ?? '') ?? 'equal';
}
