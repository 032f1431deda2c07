// Which column of a table holds the time of its edges, where nobody says it.

import { cellsOf, type ForeignTable } from './foreign-table.ts';
import { dayAndMonth, guessTimeFormat, secondsIn, type TimeFormat, type TimePattern } from './times.ts';
import { wordsOf } from './words.ts';

/** Names that mean a time whatever the other columns are: the first one wins. */
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
 * Names that may mean something else: taken when exactly one column is so called, and holds times.
 */
const POSSIBLE_NAMES = ['when', 'at', 'start', 'started_at', 'start_time', 't'];
/**
 * In other languages, and less usual: taken as those, where no column has one of those. Numbers
 * must be too large for hours and days. Without accents.
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
  // Romance languages. Data is a date in some of them.
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

/** For messages. */
export const SOME_TIME_NAMES: readonly string[] = [...CERTAIN_NAMES, 'when', 'at', 'start', 'datum', 'fecha'];

/** Words of longer names, as in `order_date`: taken last. */
const TIME_WORDS = new Set(
  'event_ts ts timestamp time datetime occurred at when date day epoch created started begin start'.split(' '),
);
/** With one of these it is the time of something else than the event. */
const OTHER_WORDS = new Set(
  'updated modified deleted end ended expires expired expiry due birth born to until valid'.split(' '),
);

const LOOKED_AT = 200;
/** In 1973: smaller numbers are hours, days or years. */
const LEAST_SECONDS = 1e8;

export interface TimeSearch {
  /** Names of columns with nodes: `start` and `end` may be such. */
  readonly members: readonly string[];
  /** Undefined: the one that the cells look like. */
  readonly format: TimeFormat | TimePattern | undefined;
  /**
   * Where no column holds times, one that is called so is better than none: its rows say what is
   * wrong.
   */
  readonly isNeeded: boolean;
}

/** Indexes of columns. One: that is it; several: any of them may be. */
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
  // Where none can be read, the rows of the likeliest say why.
  return possible ?? (isNeeded ? certain.slice(0, 1) : []);
}

/** Where no name says it: the first column that holds times; undefined: none does. */
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

/** `updated_at`, `end_date`. */
export function saysOtherTime(name: string): boolean {
  return wordsOf(name).some((word) => OTHER_WORDS.has(word));
}

/** Without case, accents, and what parts words. */
function keyOf(name: string): string {
  const plain = name.trim().toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC');
  return plain.replaceAll('ı', 'i').replaceAll(/[ ./-]+/g, '_');
}

/**
 * Most of them, at least: some rows may be bad. A date that needs a flag counts; its row says what
 * to do.
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
