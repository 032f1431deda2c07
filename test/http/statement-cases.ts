// Lists every kind of statement, with the role that it needs and its effect, and defines many
// spellings of a statement.

import type { Statement } from '../../src/query/parser/ast.ts';
import type { TestRole } from './support.ts';

export type Kind = Statement['kind'];

export interface StatementCase {
  readonly kind: Kind;
  readonly role: TestRole;
  readonly text: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /**
   * `reads`: changes nothing. `writes`: changes rows. `defines`: changes tables, columns, indexes,
   * files or transactions; not allowed in a batch.
   */
  readonly effect: 'reads' | 'writes' | 'defines';
}

type Written = string | readonly [text: string, parameters: Readonly<Record<string, unknown>>];

/**
 * Statements on the tables `stage` (columns n and extra, an index on weight, a file in.csv), the
 * node table `Kind` (key label, column extra) and `props`. Its type makes the compiler require
 * every kind of statement.
 */
const TEXTS: Readonly<Record<Exclude<Kind, 'explain' | 'analyze'>, readonly Written[]>> = {
  match: [
    'MATCH (s:stage) RETURN COUNT(*)',
    ['MATCH (s:stage) WHERE $node IN s.members RETURN s LIMIT $limit', { node: 1, limit: 5 }],
  ],
  insert: [
    'INSERT INTO stage (event_ts, members, n) VALUES (5, [1, 2], 3)',
    ['INSERT INTO stage (event_ts, members, n) VALUES ($t, $members, $n)', { t: 6, members: [4], n: null }],
  ],
  update: ['UPDATE stage SET n = 9', ['UPDATE stage SET n = $n WHERE event_ts = $t', { n: 8, t: 1 }]],
  delete: ['DELETE FROM stage', ['DELETE FROM stage WHERE $node IN members', { node: 1 }]],
  createTable: [
    'CREATE HYPEREDGE TABLE made (node)',
    'CREATE HYPEREDGE TABLE IF NOT EXISTS made (a, b) PROPERTIES (n INTEGER) BUCKET_SECONDS 60 COMPACT_THRESHOLD 9',
  ],
  dropTable: ['DROP HYPEREDGE TABLE stage', 'DROP HYPEREDGE TABLE IF EXISTS stage'],
  alterTable: [
    'ALTER TABLE stage ADD COLUMN more REAL DEFAULT 0.5',
    'ALTER TABLE stage DROP COLUMN extra',
    'ALTER TABLE stage RENAME TO renamed',
    'ALTER TABLE stage RENAME COLUMN n TO m',
  ],
  createNodeTable: [
    'CREATE NODE TABLE Made (name TEXT)',
    "CREATE NODE TABLE IF NOT EXISTS Made (id INTEGER) PROPERTIES (city TEXT DEFAULT 'Rome', born INTEGER)",
  ],
  dropNodeTable: ['DROP NODE TABLE Kind', 'DROP NODE TABLE IF EXISTS Kind'],
  alterNodeTable: [
    'ALTER NODE TABLE Kind ADD COLUMN more REAL DEFAULT 0.5',
    'ALTER NODE TABLE Kind DROP COLUMN extra',
    'ALTER NODE TABLE Kind RENAME TO Sort',
    'ALTER NODE TABLE Kind RENAME COLUMN label TO name',
  ],
  createIndex: ['CREATE INDEX ON stage (n)'],
  dropIndex: ['DROP INDEX ON stage (weight)'],
  createTextIndex: ['CREATE TEXT INDEX ON stage (extra) LANGUAGE english'],
  dropTextIndex: ['DROP TEXT INDEX ON texts'],
  showIndexes: ['SHOW INDEXES', 'SHOW INDEXES ON stage'],
  showTables: ['SHOW TABLES'],
  showNodeTables: ['SHOW NODE TABLES'],
  compact: ['COMPACT', 'COMPACT stage', 'COMPACT stage TTL 1'],
  begin: ['BEGIN'],
  commit: ['COMMIT'],
  rollback: ['ROLLBACK'],
  copyFrom: ["COPY stage FROM 'in.csv'"],
  copyTo: ["COPY stage TO 'out.csv'", "COPY (MATCH (s:stage) RETURN s.event_ts) TO 'out.csv'"],
};

const ROLES: Readonly<Record<keyof typeof TEXTS, TestRole>> = {
  match: 'readonly',
  showIndexes: 'readonly',
  showTables: 'readonly',
  showNodeTables: 'readonly',
  insert: 'readwrite',
  update: 'readwrite',
  delete: 'readwrite',
  compact: 'readwrite',
  begin: 'readwrite',
  commit: 'readwrite',
  rollback: 'readwrite',
  createTable: 'admin',
  dropTable: 'admin',
  alterTable: 'admin',
  createNodeTable: 'admin',
  dropNodeTable: 'admin',
  alterNodeTable: 'admin',
  createIndex: 'admin',
  dropIndex: 'admin',
  createTextIndex: 'admin',
  dropTextIndex: 'admin',
  copyFrom: 'admin',
  copyTo: 'admin',
};

function effectOf(kind: keyof typeof TEXTS): StatementCase['effect'] {
  if (ROLES[kind] === 'readonly') return 'reads';
  return kind === 'insert' || kind === 'update' || kind === 'delete' ? 'writes' : 'defines';
}

export const STATEMENTS: readonly StatementCase[] = Object.entries(TEXTS).flatMap(([name, texts]) => {
  const kind = name as keyof typeof TEXTS;
  return texts.map((written): StatementCase => {
    const [text, parameters] = typeof written === 'string' ? [written, {}] : written;
    return { kind, role: ROLES[kind], text, parameters, effect: effectOf(kind) };
  });
});

/** Applies `change` to the parts of the text that are not in single quotes. */
function outside(text: string, change: (part: string) => string): string {
  return text
    .split(/('[^']*')/)
    .map((part, place) => (place % 2 === 0 ? change(part) : part))
    .join('');
}

const alternating = (part: string) =>
  [...part].map((letter, place) => (place % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');

/** Applies `change` to the words outside single quotes, except to parameter names. */
function keywords(text: string, change: (part: string) => string): string {
  return outside(text, (part) => part.replace(/(?<!\$)\b\w+/g, change));
}

/** Spellings of the same statement, by name. */
export const DISGUISES: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in small letters': (text) => keywords(text, (word) => word.toLowerCase()),
  'in letters of all sizes': (text) => keywords(text, alternating),
  'after spaces and empty lines': (text) => `\r\n\t   \n${text}\n\n `,
  'after a comment of one line': (text) => `// MATCH (s:stage) RETURN s\n${text}`,
  'after a comment of several lines': (text) => `/* MATCH (s:stage)\n RETURN s; */${text}/* ; MATCH */`,
  'with comments for spaces': (text) => outside(text, (part) => part.replaceAll(' ', '/* RETURN */')),
  'on many lines': (text) => outside(text, (part) => part.replaceAll(' ', '\r\n')),
  'with a semicolon': (text) => `${text} ;`,
  'with a semicolon and a comment': (text) => `${text}; // MATCH (s:stage) RETURN s`,
};

/**
 * Texts that are not valid statements: two statements in one, words that only resemble keywords,
 * and hidden characters.
 */
export const NO_STATEMENTS: readonly string[] = [
  '',
  ' ',
  ';',
  '// DROP HYPEREDGE TABLE stage',
  '/* DROP HYPEREDGE TABLE stage */',
  '/* DROP HYPEREDGE TABLE stage',
  'MATCH (s:stage) RETURN s; DROP HYPEREDGE TABLE stage',
  'MATCH (s:stage) RETURN s\nDROP HYPEREDGE TABLE stage',
  'SHOW TABLES; DELETE FROM stage',
  'EXPLAIN MATCH (s:stage) RETURN s; DELETE FROM stage',
  'EXPLAIN EXPLAIN DROP HYPEREDGE TABLE stage',
  'EXPLAIN ANALYZE DELETE FROM stage',
  'ANALYZE EXPLAIN DELETE FROM stage',
  'EXPLAIN',
  'EXPLAIN; DROP HYPEREDGE TABLE stage',
  'DROPHYPEREDGE TABLE stage',
  'DRO/**/P HYPEREDGE TABLE stage',
  '`DROP` HYPEREDGE TABLE stage',
  "'DROP' HYPEREDGE TABLE stage",
  '$statement',
  'ＤＲＯＰ HYPEREDGE TABLE stage',
  'ıNSERT INTO stage (event_ts, members) VALUES (1, [1])',
  'DELETE FROM stage\u0000',
  '\u0000DELETE FROM stage',
  'DELETE\u200bFROM stage',
  '(DELETE FROM stage)',
  '[DELETE FROM stage]',
];
