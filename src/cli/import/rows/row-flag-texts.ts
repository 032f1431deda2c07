// The help texts of the flags of `hedgerow import` that describe how a file is written.

export const ROW_FLAGS: readonly (readonly [flag: string, text: string])[] = [
  ['--ts-column <name>', 'column or HIF attribute with the time (default event_ts, timestamp, date, when, datum ...)'],
  [
    '--ts-format <format>',
    's, ms, us, ns, iso, dmy, mdy, ymd, or a pattern such as "%d.%m.%y %H:%M" (default: what the first rows look like)',
  ],
  ['--ts <time>', 'time of the edges that have none: seconds since 1970, or ISO 8601'],
  [
    '--member-columns <names>',
    'columns with a node each, or lists with --separator; separated by commas (default: from and to, or the like)',
  ],
  ['--member-column <name>', 'column with a list of nodes (default members)'],
  ['--separator <text>', 'between the nodes of a list (--member-column: default ;)'],
  ['--member-ids <kind>', 'nodes are number or name (default: what the first rows look like)'],
  ['--property-columns <names>', 'columns that become properties (default: all others)'],
  ['--types <list>', 'types of columns, as in price=REAL,code=TEXT'],
  ['--decimal <character>', 'comma or point in the numbers of CSV (default: what the first rows look like)'],
  ['--delimiter <character>', 'between the cells of CSV (default: what the header has most of)'],
  ['--no-header', 'CSV without names of columns: they are column_1, column_2, ...'],
  ['--columns <names>', 'names of the columns of CSV that has none, separated by commas'],
  ['--encoding <name>', 'of texts, such as windows-1252 (default UTF-8; UTF-16 is recognised by itself)'],
];
