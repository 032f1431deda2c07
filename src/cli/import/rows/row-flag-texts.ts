// The help texts of the flags of `hedgerow import` that describe how a file is written.

export const ROW_FLAGS: readonly (readonly [flag: string, text: string])[] = [
  ['--ts-column <name>', 'column or HIF attribute with the time (default event_ts, timestamp, date, when, datum ...)'],
  [
    '--ts-format <format>',
    's, ms, us, ns, iso, dmy, mdy, ymd, or a pattern such as "%d.%m.%y %H:%M" (default: guessed from the first rows)',
  ],
  [
    '--end-column <name>',
    'column or HIF attribute with the end of an edge, empty while it holds; a new table gets intervals (default end_ts in a table with intervals)',
  ],
  ['--ts <time>', 'time of the edges that have none: seconds since 1970, or ISO 8601'],
  [
    '--member-columns <names>',
    'columns with one node each (with --separator: lists), separated by commas (default: from and to, or similar names)',
  ],
  ['--member-column <name>', 'column with a list of nodes (default members)'],
  ['--separator <text>', 'text between the nodes of a list (default with --member-column: ;)'],
  ['--member-ids <kind>', 'number or name: what the cells hold for a node (default: guessed from the first rows)'],
  ['--property-columns <names>', 'columns that become properties (default: all others)'],
  ['--types <list>', 'types of columns, as in price=REAL,code=TEXT'],
  ['--decimal <character>', 'decimal separator of numbers in CSV: , or . (default: guessed from the first rows)'],
  [
    '--delimiter <character>',
    'character between the cells of CSV (default: the one that occurs most often in the header)',
  ],
  ['--no-header', 'CSV without names of columns: they are column_1, column_2, ...'],
  ['--columns <names>', 'names of the columns of CSV without a header, separated by commas'],
  ['--encoding <name>', 'encoding of the text, such as windows-1252 (default UTF-8; UTF-16 is detected)'],
];
