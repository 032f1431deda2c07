// Which column of a file holds the time, where nobody says it.

import { dayAndMonth, guessTimeFormat, secondsIn, type TimeFormat, type TimePattern } from '../../../tabular/times.ts';

/** Names that mean a time whatever the other columns are: the first one wins. */
const CERTAIN_NAMES = ['event_ts', 'timestamp', 'ts', 'time', 'datetime', 'date', 'created_at'];
/**
 * Names that may mean something else: taken when exactly one column is so called, and holds times.
 */
const POSSIBLE_NAMES = ['when', 'at', 'start', 'started_at', 'start_time', 'event_time', 'occurred_at', 'date_time'];
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

const LOOKED_AT = 200;
/** In 1973: smaller numbers are hours, days or years. */
const LEAST_SECONDS = 1e8;

export interface TimeSearch {
  readonly names: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
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
export function guessTimeColumns({ names, rows, members, format, isNeeded }: TimeSearch): number[] {
  const nodes = new Set(members.map((name) => name.toLowerCase()));
  const lower = names.map((name) => {
    return nodes.has(name.toLowerCase()) ? '' : keyOf(name);
  });
  const called = (wanted: readonly string[]) => wanted.map((name) => lower.indexOf(name)).filter((at) => at >= 0);
  const isTime = (index: number) =>
    holdsTimes(
      rows.slice(0, LOOKED_AT).map((row) => row[index]),
      format,
    );
  const certain = called(CERTAIN_NAMES);
  if (isNeeded && lower[certain[0]!] === 'event_ts') return certain.slice(0, 1);
  const best = certain.find(isTime);
  if (best !== undefined) return [best];
  const usual = called(POSSIBLE_NAMES).filter(isTime);
  const isLate = (index: number) =>
    rows.slice(0, LOOKED_AT).every((row) => isNothing(row[index]) || !(Math.abs(Number(row[index])) < LEAST_SECONDS));
  const possible = usual.length > 0 ? usual : called(OTHER_NAMES).filter((index) => isLate(index) && isTime(index));
  // Where none can be read, the rows of the likeliest say why.
  return possible.length > 0 || !isNeeded ? possible : certain.slice(0, 1);
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
