// Recognises a range of times of day with its day: "between 10:00 and 12:00 on 2024-01-01" and
// "on 2024-01-01 from 10:00 to 12:00". Without a day, such a range is not a window.

import { DAY_SECONDS } from './calendar.ts';
import { type Moment, momentAt, type NoMoment, timeOfDay } from './moments.ts';
import { freeWord, isWord, phraseAt, phrases, type Reading } from './words.ts';

const OPEN = ['between', 'from'];
const LINK = phrases('and', 'to', 'until', 'till', 'through', '-', '&');
const ON = ['on', 'in', 'of', 'at', ','];

export interface ClockRange {
  readonly start: number;
  readonly end: number;
  readonly stop: number;
}

/** Reads the range at an index. If the second time is before the first, there is only a reason. */
export function clockRange(reading: Reading, at: number, nowTs: number): ClockRange | NoMoment | undefined {
  if (isWord(reading, at, ...OPEN)) {
    const clocks = clocksAt(reading, at, 0);
    if (clocks === undefined || 'reason' in clocks) return clocks;
    let next = clocks.stop;
    while (isWord(reading, next, ...ON)) next++;
    const day = wholeDayAt(reading, next, nowTs);
    return day && dated(reading, at, day, day.end);
  }
  const begin = isWord(reading, at, ...ON) ? at + 1 : at;
  // Most words are not the day of a range, and reading a date takes time.
  if (!reading.words.some(({ kind }) => kind === 'time')) return undefined;
  const day = wholeDayAt(reading, begin, nowTs);
  if (day === undefined) return undefined;
  const open = isWord(reading, day.end, ',') ? day.end + 1 : day.end;
  return isWord(reading, open, ...OPEN) ? dated(reading, open, day, undefined) : undefined;
}

function wholeDayAt(reading: Reading, at: number, nowTs: number): Moment | undefined {
  const day = momentAt(reading, at, nowTs, 'during');
  return day?.kind === 'moment' && day.last - day.first === DAY_SECONDS - 1 ? day : undefined;
}

function dated(
  reading: Reading,
  open: number,
  day: Moment,
  stop: number | undefined,
): ClockRange | NoMoment | undefined {
  const clocks = clocksAt(reading, open, day.first);
  if (clocks === undefined || 'reason' in clocks) return clocks;
  if (clocks.start > clocks.end)
    return { kind: 'none', reason: 'The second time of day is before the first.', end: stop ?? clocks.stop };
  return { ...clocks, stop: stop ?? clocks.stop };
}

/** Reads two times of day after a word such as `between`, on the day that begins at `dayStart`. */
function clocksAt(reading: Reading, open: number, dayStart: number): ClockRange | NoMoment | undefined {
  if (freeWord(reading, open + 1)?.kind !== 'time') return undefined;
  const from = timeOfDay(reading, open + 1, dayStart);
  const link = phraseAt(reading, from.end, LINK);
  if (link === 0 || freeWord(reading, from.end + link)?.kind !== 'time') return undefined;
  const to = timeOfDay(reading, from.end + link, dayStart);
  if (from.kind === 'none') return { ...from, end: to.end };
  if (to.kind === 'none') return to;
  return { start: from.first, end: to.last, stop: to.end };
}
