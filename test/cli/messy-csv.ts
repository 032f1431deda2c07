// The result that the import of each file in `messy-csv/` must have, decided from the files before
// the code was written.

export interface MessyCase {
  readonly file: string;
  /** What is unusual about the file. */
  readonly what: string;
  /** Flags of `importCommand`. `memberColumns` defaults to from,to. */
  readonly flags?: Readonly<Record<string, string | boolean>>;
  readonly code: 0 | 1 | 2;
  /** For each edge: its time, its nodes, and its properties that are not null. */
  readonly edges: readonly string[];
  readonly rejected?: number;
  /** Patterns that must appear on stderr, in any order. */
  readonly says?: readonly RegExp[];
}

const SKIP = { onError: 'skip' } as const;
const TWO = ['2024-03-14 Ada+Grace', '2024-03-15 Grace+Linus'];
const PLACES = ['2024-03-14 José+Zoë place="Málaga"', '2024-03-15 Zoë+李雷 place="Köln"'];
const WESTERN = ['2024-03-14 José+Zoë place="Málaga"', '2024-03-15 Ada+Zoë place="Köln"'];

const NUMBERS: readonly MessyCase[] = [
  {
    file: 'semicolons-decimal-comma.csv',
    what: 'German Excel: semicolons, 1.234,50, byte order mark, CRLF',
    flags: { memberColumns: 'Von,An' },
    code: 0,
    edges: [
      '2024-03-14T08:15:00 Ada+Grace Betrag=1234.5',
      '2024-03-15T09:00:00 Grace+Linus Betrag=12.5',
      '2024-04-01T10:30:00 Ada+Linus Betrag=-0.75',
    ],
  },
  {
    file: 'decimal-comma-ambiguous.csv',
    what: '1,250: thousands, or a decimal comma',
    code: 0,
    edges: ['2024-03-14 Ada+Grace total="1,250"', '2024-03-15 Grace+Linus total="2,500"'],
    says: [/total holds "1,250".*--decimal/],
  },
  {
    file: 'decimal-comma-ambiguous.csv',
    what: 'the same, with a decimal comma',
    flags: { decimal: ',' },
    code: 0,
    edges: ['2024-03-14 Ada+Grace total=1.25', '2024-03-15 Grace+Linus total=2.5'],
  },
  {
    file: 'decimal-comma-ambiguous.csv',
    what: 'the same, with a decimal point',
    flags: { decimal: '.' },
    code: 0,
    edges: ['2024-03-14 Ada+Grace total=1250', '2024-03-15 Grace+Linus total=2500'],
  },
  {
    file: 'decimal-comma-in-quotes.csv',
    what: 'decimal commas in a comma-separated file: could be lists',
    code: 0,
    edges: ['2024-03-14 Ada+Grace total="12,5"', '2024-03-15 Grace+Linus total="3,75"'],
    says: [/total holds "12,5".*--decimal/],
  },
  {
    file: 'decimal-comma-in-quotes.csv',
    what: 'the same, with a decimal comma',
    flags: { decimal: ',' },
    code: 0,
    edges: ['2024-03-14 Ada+Grace total=12.5', '2024-03-15 Grace+Linus total=3.75'],
  },
  {
    file: 'thousands-english.csv',
    what: '1,234.50 in quotes',
    code: 0,
    edges: [
      '2024-03-14 Ada+Grace total=1234.5',
      '2024-03-15 Grace+Linus total=12345678',
      '2024-03-16 Ada+Linus total=7',
    ],
  },
  {
    file: 'thousands-space.csv',
    what: '1 234,50 with three kinds of spaces',
    code: 0,
    edges: [
      '2024-03-14 Ada+Grace total=1234.5',
      '2024-03-15 Grace+Linus total=12345',
      '2024-03-16 Ada+Linus total=7000.25',
    ],
  },
  {
    file: 'thousands-apostrophe.csv',
    what: "Swiss 1'234.50",
    code: 0,
    edges: ['2024-03-14 Ada+Grace total=1234.5', '2024-03-15 Grace+Linus total=12345'],
  },
  {
    file: 'nulls.csv',
    what: 'NULL, NA, NaN, None, -, #N/A, \\N, ""; a time that is NULL',
    flags: SKIP,
    code: 0,
    edges: [
      '2024-03-14 Ada+Grace n=1 word="a"',
      '2024-03-15 Grace word="b"',
      '2024-03-16 Ada',
      '2024-03-17 Ada+Linus word=""',
      '2024-03-18 Ada+Linus word="c"',
      '2024-03-19 Ada+Linus word="d"',
    ],
    rejected: 1,
  },
];

const HEADERS: readonly MessyCase[] = [
  {
    file: 'tabs.tsv',
    what: 'tabs; cells with commas and semicolons',
    code: 0,
    edges: ['2024-03-14T08:15:00 Ada+Grace note="a, b; c"', '2024-03-15T07:15:00 Grace+Linus'],
  },
  { file: 'bars.csv', what: 'bars between cells', code: 0, edges: TWO },
  {
    file: 'sep-line.csv',
    what: 'a first line sep=; for Excel',
    code: 0,
    edges: ['2024-03-14 Ada, Countess+Grace', TWO[1]!],
  },
  {
    file: 'no-header.csv',
    what: 'no header',
    code: 1,
    edges: [],
    says: [/no header.*looks like a row.*--no-header.*--columns/],
  },
  {
    file: 'no-header.csv',
    what: 'the same, with names for the columns',
    flags: { header: false, columns: 'when,from,to,minutes' },
    code: 0,
    edges: ['2024-03-14T08:15:00 Ada+Grace minutes=12', '2024-03-15T09:00:00 Grace+Linus minutes=3'],
  },
  {
    file: 'no-header.csv',
    what: 'the same, with columns chosen by number',
    flags: { header: false, tsColumn: 'column_1', memberColumns: 'column_2,column_3' },
    code: 0,
    edges: ['2024-03-14T08:15:00 Ada+Grace column_4=12', '2024-03-15T09:00:00 Grace+Linus column_4=3'],
  },
  {
    file: 'no-header.csv',
    what: 'the same, with one name too few',
    flags: { columns: 'when,from,to' },
    code: 2,
    edges: [],
    says: [/--columns names 3 columns, but the first row has 4 cells/],
  },
  {
    file: 'duplicate-headers.csv',
    what: 'three columns called note',
    code: 0,
    edges: [
      '2024-03-14 Ada+Grace note="a" note_2="b" Note_3="c"',
      '2024-03-15 Grace+Linus note="d" note_2="e" Note_3="f"',
    ],
    says: [/Column 5 .*note.* note_2/, /Column 6 .*Note.* Note_3/],
  },
  { file: 'trailing-delimiters.csv', what: 'a delimiter at the end of each line', code: 0, edges: TWO },
  { file: 'empty.csv', what: 'an empty file', code: 1, edges: [], says: [/the file is empty/] },
  { file: 'only-a-header.csv', what: 'a header without rows', code: 0, edges: [] },
  { file: 'blank-lines.csv', what: 'blank lines before, between and after', code: 0, edges: TWO },
];

const ENCODINGS: readonly MessyCase[] = [
  {
    file: 'latin-1.csv',
    what: 'ISO 8859-1',
    code: 1,
    edges: [],
    rejected: 1,
    says: [/line 2 .*not valid UTF-8; --encoding windows-1252 reads it as "2024-03-14,José,Zoë,Málaga"/],
  },
  {
    file: 'latin-1.csv',
    what: 'the same, with its encoding given',
    flags: { encoding: 'latin1' },
    code: 0,
    edges: WESTERN,
  },
  {
    file: 'windows-1252.csv',
    what: 'Windows-1252, with its encoding given',
    flags: { encoding: 'windows-1252' },
    code: 0,
    edges: ['2024-03-14 Ada+Grace price="€ 12"', '2024-03-15 Grace+Œuvre price="“gift”"'],
  },
  {
    file: 'koi8-r.csv',
    what: 'KOI8-R, with its encoding given; a header in Russian',
    flags: { encoding: 'koi8-r', memberColumns: 'кто,кому' },
    code: 0,
    edges: ['2024-03-14 Анна+Иван', '2024-03-15 Иван+Ольга'],
  },
  {
    file: 'koi8-r.csv',
    what: 'the same, with an unknown encoding',
    flags: { encoding: 'koi9' },
    code: 2,
    edges: [],
    says: [/--encoding is "koi9".*windows-1252/],
  },
  { file: 'utf-8-mark.csv', what: 'UTF-8 with a byte order mark', code: 0, edges: PLACES },
  { file: 'utf-16-little-mark.csv', what: 'UTF-16LE with a byte order mark', code: 0, edges: PLACES },
  { file: 'utf-16-big-mark.csv', what: 'UTF-16BE with a byte order mark', code: 0, edges: PLACES },
  { file: 'utf-16-no-mark.csv', what: 'UTF-16LE without a byte order mark', code: 0, edges: PLACES },
  {
    file: 'one-line-not-utf-8.csv',
    what: 'one line of Latin-1 in UTF-8',
    flags: SKIP,
    code: 0,
    edges: ['2024-03-14 Ada+Grace', '2024-03-16 Grace+Linus'],
    rejected: 1,
  },
];

const DATES: readonly MessyCase[] = [
  {
    file: 'months-english.csv',
    what: 'months in English, AM and PM, RFC 2822',
    code: 0,
    edges: [
      '2024-03-14T08:15:00 Ada+Grace',
      '2024-03-15T21:00:00 Grace+Linus',
      '2024-03-16T09:30:00 Ada+Linus',
      '2024-09-17 Ada+Grace',
      '2024-12-01 Ada+Grace',
    ],
  },
  {
    file: 'months-german.csv',
    what: 'months in German',
    flags: { memberColumns: 'Wer,Wen' },
    code: 0,
    edges: [
      '2024-01-02 Ada+Grace',
      '2024-03-14T08:15:00 Ada+Grace',
      '2024-05-03 Grace+Linus',
      '2024-12-01T10:30:00 Ada+Linus',
    ],
  },
  {
    file: 'months-french.csv',
    what: 'months in French',
    flags: { memberColumns: 'De,À' },
    code: 0,
    edges: ['2024-02-03 Ada+Linus', '2024-03-14T08:15:00 Ada+Grace', '2024-08-01T09:30:00 Grace+Linus'],
  },
  {
    file: 'months-spanish.csv',
    what: 'months in Spanish',
    flags: { memberColumns: 'De,A' },
    code: 0,
    edges: ['2024-01-02 Ada+Linus', '2024-03-14T08:15:00 Ada+Grace', '2024-12-01 Grace+Linus'],
  },
  {
    file: 'months-others.csv',
    what: 'the month of May in seven more languages',
    code: 0,
    edges: Array.from({ length: 7 }, () => '2024-05-14 Ada+Grace'),
  },
  {
    file: 'day-first.csv',
    what: 'day first, shown by one row',
    code: 0,
    edges: ['2024-03-14 Grace+Linus', '2024-04-03 Ada+Grace', '2024-06-05T10:00:00 Ada+Linus'],
  },
  {
    file: 'month-first.csv',
    what: 'month first, shown by one row',
    code: 0,
    edges: ['2024-03-04 Ada+Grace', '2024-03-14 Grace+Linus', '2024-05-06T22:00:00 Ada+Linus'],
  },
  {
    file: 'one-bad-date.csv',
    what: 'one date with the month first among dates with the day first, and a 31 February',
    flags: SKIP,
    code: 0,
    edges: [
      '2024-03-14 Grace+Linus',
      '2024-03-15 Ada+Linus',
      '2024-03-16 Ada+Linus',
      '2024-03-18 Ada+Linus',
      '2024-03-19 Ada+Linus',
      '2024-04-03 Ada+Grace',
    ],
    rejected: 2,
  },
  {
    file: 'dates-of-either-order.csv',
    what: 'dates that can be read in two ways',
    code: 1,
    edges: [],
    rejected: 1,
    says: [/--ts-format dmy \(day first\) or mdy \(month first\)/],
  },
  {
    file: 'dates-of-either-order.csv',
    what: 'the same, with the order given',
    flags: { tsFormat: 'dmy' },
    code: 0,
    edges: ['2024-04-03 Ada+Grace', '2024-06-05 Grace+Linus'],
  },
  {
    file: 'strptime.csv',
    what: 'times that only a pattern reads, and a 30 February',
    flags: { ...SKIP, tsFormat: '%d.%m.%y %Hh%M' },
    code: 0,
    edges: ['2024-03-14T08:15:00 Ada+Grace', '2024-03-15T21:00:00 Grace+Linus'],
    rejected: 1,
  },
  {
    file: 'strptime.csv',
    what: 'the same without the pattern',
    code: 1,
    edges: [],
    rejected: 1,
    says: [/--ts-format/],
  },
  {
    file: 'strptime.csv',
    what: 'the same, with an unknown directive in the pattern',
    flags: { tsFormat: '%d.%m.%q' },
    code: 2,
    edges: [],
    says: [/--ts-format .*%q/],
  },
  { file: 'dates-of-eight-digits.csv', what: '20240314', code: 0, edges: TWO },
  {
    file: 'dates-with-slashes.csv',
    what: '2024/03/14',
    code: 0,
    edges: ['2024-03-14T08:15:00 Ada+Grace', '2024-03-15 Grace+Linus', '2024-03-16T10:30:15 Ada+Linus'],
  },
  {
    file: 'dates-of-a-log.csv',
    what: 'a comma before the milliseconds',
    code: 0,
    edges: ['2024-03-14T08:15:30 Ada+Grace', '2024-03-14T08:15:31 Grace+Linus'],
  },
  {
    file: 'milliseconds.csv',
    what: 'milliseconds since 1970',
    code: 0,
    edges: ['2024-03-14T08:15:00 1+2', '2024-03-14T08:15:01 2+3'],
  },
  ...[
    'spanish',
    'dutch',
    'italian',
    'portuguese',
    'polish',
    'swedish',
    'turkish',
    'japanese',
    'russian',
    'chinese',
  ].map(
    (language): MessyCase => ({
      file: `time-column-${language}.csv`,
      what: `the time column has its name in another language: ${language}`,
      code: 0,
      edges: ['2024-03-14T08:15:00 Ada+Grace'],
    }),
  ),
];

const LINES: readonly MessyCase[] = [
  {
    file: 'unclosed-quote.csv',
    what: 'two unclosed quotes, with a closed one between them',
    flags: SKIP,
    code: 0,
    edges: [
      '2024-03-14 Ada+Grace note="fine"',
      '2024-03-16 Ada+Linus note="fine"',
      '2024-03-17 Ada+Grace note="closed"',
      '2024-03-19 Ada+Linus note="last"',
    ],
    rejected: 2,
  },
  {
    file: 'unclosed-quote-that-meets-another.csv',
    what: 'an unclosed quote, and another three lines later',
    flags: SKIP,
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="fine"', '2024-03-16 Ada+Linus note="fine"', '2024-03-18 Ada+Linus note="last"'],
    rejected: 2,
  },
  {
    file: 'ragged.csv',
    what: 'one cell too few, one cell too many',
    flags: SKIP,
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="fine"', '2024-03-17 Ada+Grace note="fine"', '2024-03-18 Ada+Grace note="last"'],
    rejected: 2,
  },
  {
    file: 'crlf.csv',
    what: 'CRLF, also within quotes',
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="a"', '2024-03-15 Grace+Linus note="b\\r\\nc"'],
  },
  {
    file: 'cr.csv',
    what: 'lines that end with CR alone',
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="a"', '2024-03-15 Grace+Linus note="b"'],
  },
  {
    file: 'quotes-with-newlines.csv',
    what: 'newlines and doubled quotes within quotes',
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="one\\ntwo \\"three\\", four"', '2024-03-15 Grace+Linus T. note="x"'],
  },
  {
    file: 'huge-field.csv',
    what: 'a cell of 70,000 bytes, more than a text may have',
    flags: SKIP,
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="fine"', '2024-03-16 Ada+Linus note="fine"'],
    rejected: 1,
  },
  {
    file: 'nul-bytes.csv',
    what: 'a NUL within a text',
    code: 0,
    edges: ['2024-03-14 Ada+Grace note="a\\u0000b"', '2024-03-15 Grace+Linus note="c"'],
  },
  {
    file: 'mostly-bad.csv',
    what: 'three bad rows of four',
    flags: SKIP,
    code: 1,
    edges: ['2024-03-14 Ada+Grace'],
    rejected: 3,
    says: [/3 of 4 rows were rejected/],
  },
  {
    file: 'mostly-bad.csv',
    what: 'the same, at most one bad row',
    flags: { maxRejects: '1' },
    code: 1,
    edges: ['2024-03-14 Ada+Grace'],
    rejected: 3,
    says: [/More than 1 line was rejected/],
  },
];

export const MESSY_CASES: readonly MessyCase[] = [...NUMBERS, ...HEADERS, ...ENCODINGS, ...DATES, ...LINES];
