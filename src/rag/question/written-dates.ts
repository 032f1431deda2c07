// Dates written with names of months and weekdays, by chrono-node: the one file that knows it. It is only ever given a few words.

import { createRequire } from 'node:module';
import type { ParsedResult } from 'chrono-node';
import { dayStart, type Stretch, startOfDay, wholeDay, wholeMonth } from './calendar.ts';

interface Chrono {
  parse(text: string, reference: { instant: Date; timezone: string }): ParsedResult[];
}

let chrono: Chrono | undefined;

export interface WrittenDate {
  /** Undefined: it looks like a date, and is none. */
  readonly stretch: Stretch | undefined;
  /** It names a time of the day: first and last are one second. */
  readonly hasTime: boolean;
  readonly hasDay: boolean;
  /** Which year or week is meant was left open. */
  readonly isOpen: boolean;
  /** Offset in the text behind the date. */
  readonly end: number;
}

/** The date that a short text begins with; undefined when it begins with none. Years and weeks left out are the latest that have begun. */
export function writtenDate(text: string, nowTs: number): WrittenDate | undefined {
  // Loaded when it is first needed: that takes some 50 ms.
  chrono ??= createRequire(import.meta.url)('chrono-node/en') as Chrono;
  const found = chrono.parse(text, { instant: new Date(nowTs * 1000), timezone: 'UTC' })[0];
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
  // A weekday alone is the latest one, today too; `this` and `next` say another.
  if (weekday && first > nowTs && !/^(this|next)/i.test(found.text)) first -= 7 * 86_400;
  else if (!weekday) first = begun(!isOpen, year, nowTs, (each) => dayOf(each, month, day))?.first ?? first;
  if (!hasTime) return { stretch: wholeDay(first), hasTime, hasDay, isOpen, end };
  const instant = start.date().getTime() / 1000;
  const moved = Math.floor(instant) + (first - startOfDay(dayStart(year, month, day)!));
  return { stretch: { first: moved, last: moved }, hasTime, hasDay, isOpen, end };
}

function dayOf(year: number, month: number, day: number): Stretch | undefined {
  const first = dayStart(year, month, day);
  return first === undefined ? undefined : wholeDay(first);
}

/** Of a year that was not written: the latest in which the stretch has begun. 29 February comes every four years, but once in a century. */
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
