// Guesses which column of a table contains the time of its edges when the user does not specify it.

import { cellsOf, type ForeignTable } from './foreign-table.ts';
import { dayAndMonth, guessTimeFormat, secondsIn, type TimeFormat, type TimePattern } from './times.ts';
import { wordsOf } from './words.ts';

/**
 * Names that always mean a time, whatever the other columns are. The first name in this list whose
 * column holds times wins.
 */
const CERTAIN_NAMES = [
  'event_ts',
  'timestamp',
  'ts',
  'time',
  'datetime',
  'date',
  'event_time',
  'occurred_at',
  'date_time',
  'created_at',
];
/**
 * Names that may mean something else. If several columns with such names hold times, any of them
 * may be the time.
 */
const POSSIBLE_NAMES = ['when', 'at', 'start', 'started_at', 'start_time', 't'];
/**
 * Names in other languages and less usual names, without accents. They count only if none of the
 * columns with a name from the lists above holds times. Numbers in the column must be too large to
 * be hours or days.
 */
const OTHER_NAMES = [
  ...['time_stamp', 'event_date', 'start_date', 'created', 'created_on', 'date_created', 'recorded_at', 'sent_at'],
  // German; Dutch and Scandinavian names are partly the same.
  ...[
    'datum',
    'zeit',
    'zeitpunkt',
    'zeitstempel',
    'datum_zeit',
    'datum_uhrzeit',
    'datum_und_uhrzeit',
    'uhrzeit',
    'wann',
  ],
  ...['erstellt_am', 'beginn'],
  ...['tijd', 'tijdstip', 'datum_tijd', 'wanneer'],
  ...[
    'tid',
    'tidpunkt',
    'tidspunkt',
    'dato',
    'tidsstampel',
    'tidsstempel',
    'datum_tid',
    'aika',
    'paivamaara',
    'pvm',
    'aikaleima',
  ],
  // Romance languages. `data` means "date" in some of them.
  ...['date_heure', 'date_et_heure', 'heure', 'horodatage', 'quand', 'temps', 'cree_le'],
  ...['fecha', 'hora', 'fecha_hora', 'fecha_y_hora', 'cuando', 'marca_de_tiempo', 'creado_el'],
  ...['data', 'ora', 'data_ora', 'data_e_ora', 'quando', 'orario'],
  ...['data_hora', 'data_e_hora', 'carimbo_de_data_hora'],
  // Polish, Czech, Turkish, Russian, Ukrainian; Chinese, Japanese, Korean.
  ...['czas', 'kiedy', 'data_i_czas', 'znacznik_czasu', 'cas', 'datum_a_cas', 'kdy'],
  ...['tarih', 'zaman', 'saat', 'tarih_saat', 'zaman_damgasi'],
  ...['дата', 'время', 'дата_и_время', 'когда', 'дата_время', 'час', 'дата_і_час', 'коли'],
  ...['时间', '日期', '日期时间', '时间戳', '日時', '時刻', '日付', '時間', 'タイムスタンプ', '날짜', '시간', '일시'],
].map(keyOf);

/** Some names for messages. */
export const SOME_TIME_NAMES: readonly string[] = [...CERTAIN_NAMES, 'when', 'at', 'start', 'datum', 'fecha'];

/** Words in longer names such as `order_date`. They are tried last. */
const TIME_WORDS = new Set(
  'event_ts ts timestamp time datetime occurred at when date day epoch created started begin start'.split(' '),
);
/** A name with one of these words is the time of something other than the event. */
const OTHER_WORDS = new Set(
  'updated modified deleted end ended expires expired expiry due birth born to until valid'.split(' '),
);

const LOOKED_AT = 200;
/**
 * This number of seconds after the start of 1970 is in 1973. Smaller numbers are hours, days or
 * years.
 */
const LEAST_SECONDS = 1e8;

export interface TimeSearch {
  /** Names of the columns that contain nodes; these may be called `start` and `end`. */
  readonly members: readonly string[];
  /** Format of the times; undefined if it must be guessed from the cells. */
  readonly format: TimeFormat | TimePattern | undefined;
  /**
   * True if the table must have a time. If no column holds times, a column with a certain name is
   * then returned anyway, and the errors in its rows show what is wrong.
   */
  readonly isNeeded: boolean;
}

/**
 * Returns the indexes of columns. A single index is the time; if there are several, any of them may
 * be it.
 */
export function guessTimeColumns(table: ForeignTable, { members, format, isNeeded }: TimeSearch): number[] {
  const nodes = new Set(members.map((name) => name.toLowerCase()));
  const names = table.names.map((name) => (nodes.has(name.toLowerCase()) ? '' : name));
  const keys = names.map(keyOf);
  const called = (wanted: readonly string[]) => wanted.map((name) => keys.indexOf(name)).filter((at) => at >= 0);
  const cells = (index: number) => cellsOf(table, index, LOOKED_AT);
  const isTime = (index: number) => holdsTimes(cells(index), format);
  const certain = called(CERTAIN_NAMES);
  if (isNeeded && keys[certain[0]!] === 'event_ts') return certain.slice(0, 1);
  const best = certain.find(isTime);
  if (best !== undefined) return [best];
  const isLate = (index: number) =>
    cells(index).every((cell) => isNothing(cell) || !(Math.abs(Number(cell)) < LEAST_SECONDS));
  const worded = names.flatMap((name, index) => (saysTime(name) ? [index] : []));
  const groups = [called(POSSIBLE_NAMES), called(OTHER_NAMES).filter(isLate), worded.filter(isLate)];
  const possible = groups.map((group) => group.filter(isTime)).find((group) => group.length > 0);
  // If no column can be read, the errors in the rows of the likeliest one explain why.
  return possible ?? (isNeeded ? certain.slice(0, 1) : []);
}

/**
 * Returns the first column that holds dates, without plain numbers; undefined if there is none. For
 * tables in which no name indicates the time.
 */
export function firstColumnOfTimes(table: ForeignTable): number | undefined {
  const index = table.names.findIndex((_, at) => {
    const cells = cellsOf(table, at, LOOKED_AT).filter((cell) => !isNothing(cell));
    const areNumbers = cells.some((cell) => Number.isFinite(Number(cell)));
    return cells.length > 0 && !areNumbers && holdsTimes(cells, undefined);
  });
  return index < 0 ? undefined : index;
}

function saysTime(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word) => TIME_WORDS.has(word)) && !saysOtherTime(name);
}

/** True for names like `updated_at` and `end_date`, which are the time of something else. */
export function saysOtherTime(name: string): boolean {
  return wordsOf(name).some((word) => OTHER_WORDS.has(word));
}

/** Returns the name in lower case without accents, with `_` between words. */
function keyOf(name: string): string {
  const plain = name.trim().toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC');
  return plain.replaceAll('ı', 'i').replaceAll(/[ ./-]+/g, '_');
}

/**
 * True if at least half of the cells that are not empty are times: some rows may be bad. A date
 * that is ambiguous without a flag counts too, because the error of its row explains which flag to
 * use.
 */
function holdsTimes(cells: readonly unknown[], given: TimeFormat | TimePattern | undefined): boolean {
  const present = cells.filter((cell) => !isNothing(cell));
  const format = given ?? guessTimeFormat(present);
  const good = present.filter((cell) => dayAndMonth(cell) !== undefined || !Number.isNaN(secondsIn(cell, format)));
  return good.length * 2 >= present.length;
}

function isNothing(cell: unknown): boolean {
  return cell === null || cell === undefined || cell === '';
}
