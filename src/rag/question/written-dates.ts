// Parses dates that contain the names of months or weekdays. Wraps chrono-node, which is used
// nowhere else and is only given a few words.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Chrono, en } from 'chrono-node';
import { finish, type Steps } from '../../schedule/steps.ts';
import { dayOf, dayStart, type Stretch, startOfDay, wholeDay, wholeMonth } from './calendar.ts';

/**
 * Parsers that are left out. They read durations ("4 years ago"), which moments.ts reads itself.
 * Compiling the regular expression of one such parser blocks the thread for 60 ms.
 */
const LEFT_OUT = ['ENTimeUnitAgoFormatParser', 'ENTimeUnitLaterFormatParser'];

let chrono: Chrono | undefined;

export interface WrittenDate {
  /** The interval of the date; undefined if the text looks like a date but is not valid. */
  readonly stretch: Stretch | undefined;
  /** Whether the text states a time of day. If so, the interval is a single second. */
  readonly hasTime: boolean;
  readonly hasDay: boolean;
  /** Whether the year or week was not stated. */
  readonly isOpen: boolean;
  /** Offset of the end of the date in the text. */
  readonly end: number;
}

/**
 * Parses the date at the start of a short text, or returns undefined if there is none. If the year
 * or week is not stated, the latest one that has begun is assumed.
 */
export function writtenDate(text: string, nowTs: number): WrittenDate | undefined {
  finish(loadDates());
  const found = chrono!.parse(text, { instant: new Date(nowTs * 1000), timezone: 'UTC' })[0];
  if (found === undefined || found.index !== 0) return undefined;
  const { start } = found;
  const hasTime = start.isCertain('hour');
  const weekday = start.isCertain('weekday') && !start.isCertain('day');
  const hasDay = weekday || start.isCertain('day');
  const end = found.text.length;
  const isOpen = !start.isCertain('year');
  const [year, month, day] = [start.get('year')!, start.get('month')!, start.get('day')!];
  if (!hasDay) {
    const stretch = begun(!isOpen, year, nowTs, (each) => wholeMonth(each, month));
    return { stretch, hasTime: false, hasDay, isOpen, end };
  }
  let first = dayStart(year, month, day);
  if (first === undefined) return { stretch: undefined, hasTime, hasDay, isOpen, end };
  // A weekday alone is the latest such day, possibly today, unless `this` or `next` is before it.
  if (weekday && first > nowTs && !/^(this|next)/i.test(found.text)) first -= 7 * 86_400;
  else if (!weekday) first = begun(!isOpen, year, nowTs, (each) => dayOf(each, month, day))?.first ?? first;
  if (!hasTime) return { stretch: wholeDay(first), hasTime, hasDay, isOpen, end };
  const instant = start.date().getTime() / 1000;
  const moved = Math.floor(instant) + (first - startOfDay(dayStart(year, month, day)!));
  return { stretch: { first: moved, last: moved }, hasTime, hasDay, isOpen, end };
}

/**
 * Modules of chrono-node, in an order in which each loads only a few others. Loaded all at once,
 * the package takes 20 ms.
 */
const MODULES = [
  'utils/pattern',
  'results',
  'locales/en/constants',
  'locales/en/parsers/ENTimeUnitWithinFormatParser',
  'locales/en/parsers/ENMonthNameLittleEndianParser',
  'locales/en/parsers/ENTimeExpressionParser',
  'common/refiners/AbstractMergeDateTimeRefiner',
  'configurations',
  'locales/en/parsers/ENCasualTimeParser',
  'locales/en/parsers/ENRelativeDateFormatParser',
  'locales/en/parsers/ENMonthNameParser',
  'locales/en/parsers/ENTimeUnitAgoFormatParser',
  'locales/en/parsers/ENWeekdayParser',
  'locales/en/refiners/ENMergeDateRangeRefiner',
  'locales/en/refiners/ENMergeRelativeAfterDateRefiner',
  'locales/en/configuration',
];

/**
 * Loads the modules one by one. If the package is laid out in another way, those that are missing
 * are loaded with the package.
 */
function* loadModules(require: NodeJS.Require): Steps<void> {
  const folder = dirname(require.resolve('chrono-node/en'));
  for (const name of MODULES) {
    try {
      require(join(folder, '../..', `${name}.js`));
    } catch {}
    yield;
  }
}

/**
 * Loads chrono-node and makes each of its parsers compile its regular expressions, one parser in
 * two steps. `writtenDate` does the same at once if this has not been done: some 50 ms.
 */
export function* loadDates(): Steps<void> {
  if (chrono !== undefined) return;
  const require = createRequire(import.meta.url);
  yield* loadModules(require);
  const { Chrono, casual } = require('chrono-node/en') as typeof en;
  const parsers = casual.parsers.filter((parser) => !LEFT_OUT.includes(parser.constructor.name));
  chrono = new Chrono({ parsers, refiners: casual.refiners });
  for (const parser of parsers) {
    const alone = new Chrono({ parsers: [parser], refiners: [] });
    // V8 compiles an expression at its first use, and to faster code at its second.
    for (const text of ['', '1 May 2020']) {
      yield;
      alone.parse(text);
    }
  }
  yield;
}

/**
 * Returns the interval in the written year or, if no year was written, in the latest year in which
 * the interval has begun. Tries nine years, because there may be up to eight years between two
 * 29ths of February.
 */
function begun(
  isWritten: boolean,
  year: number,
  nowTs: number,
  of: (year: number) => Stretch | undefined,
): Stretch | undefined {
  if (isWritten) return of(year);
  for (let each = new Date(nowTs * 1000).getUTCFullYear(), tries = 0; tries < 9; each--, tries++) {
    const stretch = of(each);
    if (stretch !== undefined && stretch.first <= nowTs) return stretch;
  }
  return undefined;
}
