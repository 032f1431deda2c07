// Builds statements of 100 KB that try to slow down the parser and the binder: one for each
// construct that may be repeated very often or nested very deeply.

export const TEXT_BYTES = 100_000;

export interface LargeText {
  readonly name: string;
  readonly text: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Returns `head`, then `piece` as often as it fits into TEXT_BYTES, then `tail`. */
function filled(head: string, piece: string | ((index: number) => string), tail: string, between = ''): string {
  const pieces: string[] = [];
  const pieceAt = typeof piece === 'string' ? () => piece : piece;
  let left = TEXT_BYTES - head.length - tail.length;
  for (let index = 0; ; index++) {
    const next = pieceAt(index) + between;
    left -= next.length;
    if (left < 0) break;
    pieces.push(pieceAt(index));
  }
  return `${head}${pieces.join(between)}${tail}`;
}

const MATCH = 'MATCH (e:hyperedges) ';

export function largeTexts(): LargeText[] {
  return [...chains(), ...depths(), ...lists(), ...tokens(), ...names()];
}

function chains(): LargeText[] {
  const where = `${MATCH}WHERE `;
  const count = ' RETURN count(*)';
  return [
    { name: 'OR', text: filled(where, 'e.id = 1', count, ' OR ') },
    { name: 'AND', text: filled(where, 'e.id<>1', count, ' AND ') },
    { name: 'OR of times', text: filled(where, (i) => `e.event_ts=${i}`, count, ' OR ') },
    { name: 'OR of nodes', text: filled(where, (i) => `${i} IN e.members`, count, ' OR ') },
    { name: 'AND of nodes', text: filled(where, (i) => `${i} IN e.members`, count, ' AND ') },
    { name: 'AND of ORs', text: filled(where, (i) => `(e.id=${i} OR e.weight=${i})`, count, ' AND ') },
    { name: 'OR of ANDs', text: filled(where, (i) => `e.id=${i} AND e.weight=${i}`, count, ' OR ') },
    { name: 'OR of BETWEEN', text: filled(where, (i) => `e.event_ts BETWEEN ${i} AND ${i + 5}`, count, ' OR ') },
    { name: '+', text: filled(`${MATCH}RETURN `, '1', ' AS n', '+') },
    { name: '+ of texts', text: filled(`${MATCH}RETURN `, "'a'", ' AS n', '+') },
    { name: '* and -', text: filled(`${MATCH}RETURN `, 'e.id*2', ' AS n', '-') },
    { name: 'comparisons', text: filled(where, 'e.id', count, '<') },
    { name: 'IS NULL', text: filled(`${where}e.id`, ' IS NULL', count) },
  ];
}

function depths(): LargeText[] {
  const where = `${MATCH}WHERE `;
  const half = TEXT_BYTES / 2 - 100;
  return [
    { name: 'parentheses, closed', text: `${where}${'('.repeat(half)}e.id=1${')'.repeat(half)} RETURN e` },
    { name: 'parentheses, open', text: `${where}${'('.repeat(TEXT_BYTES)}` },
    { name: 'parentheses of a pattern', text: `MATCH ${'('.repeat(TEXT_BYTES)}` },
    { name: 'NOT', text: filled(where, 'NOT ', 'e.id=1 RETURN e') },
    { name: 'unary minus', text: filled(`${MATCH}RETURN `, '- ', '1 AS n') },
    { name: 'lists in lists', text: filled(`${where}e.id IN `, '[', '') },
    { name: 'calls in calls', text: filled(`${where}`, 'size(', '1') },
    { name: 'AND in OR in AND', text: filled(where, '(e.id=1 AND (e.id=2 OR ', 'true') },
    { name: 'EXPLAIN of EXPLAIN', text: filled('', 'EXPLAIN ', 'SHOW TABLES') },
    { name: 'brackets of every kind', text: filled(where, '([{', '') },
  ];
}

function lists(): LargeText[] {
  const insert = 'INSERT INTO hyperedges (event_ts, members) VALUES ';
  const ids = Array.from({ length: 14_000 }, (_, i) => i);
  return [
    { name: 'IN a list of numbers', text: filled(`${MATCH}WHERE e.id IN [`, (i) => `${i}`, '] RETURN e.id', ',') },
    {
      name: 'IN a list of texts',
      text: filled(`${MATCH}WHERE e.formation IN [`, (i) => `'t${i}'`, '] RETURN e.id', ','),
    },
    { name: 'IN a list of columns', text: filled(`${MATCH}WHERE e.id IN [`, 'e.id', '] RETURN e.id', ',') },
    { name: 'MEMBERS', text: filled('MATCH (e:hyperedges) MEMBERS [', (i) => `${i}`, '] RETURN e.id', ',') },
    { name: 'IN a parameter', text: `${MATCH}WHERE e.id IN $ids RETURN e.id`, parameters: { ids } },
    { name: 'VALUES', text: filled(insert, (i) => `(${i},[${i}])`, '', ',') },
    { name: 'VALUES of wrong types', text: filled(insert, "('a',['b'])", '', ',') },
    { name: 'VALUES of one row with a long list', text: filled(`${insert}(1,[`, (i) => `${i}`, '])', ',') },
    { name: 'columns of an INSERT', text: filled('INSERT INTO hyperedges (', (i) => `c${i}`, ') VALUES (1)', ',') },
    { name: 'patterns', text: filled('MATCH ', (i) => `(a${i}:hyperedges)`, ' RETURN count(*)', ',') },
    { name: 'RETURN items', text: filled(`${MATCH}RETURN `, (i) => `e.id AS n${i}`, '', ',') },
    { name: 'RETURN items of one name', text: filled(`${MATCH}RETURN `, 'e.id', '', ',') },
    { name: 'aggregates', text: filled(`${MATCH}RETURN `, (i) => `sum(e.id+${i}) AS s${i}`, '', ',') },
    { name: 'ORDER BY', text: filled(`${MATCH}RETURN e.id ORDER BY `, 'e.id', '', ',') },
    { name: 'SET', text: filled('UPDATE hyperedges SET ', (i) => `weight=${i}`, '', ',') },
    {
      name: 'columns of a table',
      text: filled('CREATE HYPEREDGE TABLE t (n) PROPERTIES (', (i) => `c${i} REAL`, ')', ','),
    },
    { name: 'node kinds of a table', text: filled('CREATE HYPEREDGE TABLE t (', (i) => `n${i}`, ')', ',') },
    { name: 'arguments', text: filled(`${MATCH}WHERE shared(`, 'e', ') >= 1 RETURN e', ',') },
    { name: 'commas', text: filled(`${MATCH}RETURN `, ',', '') },
  ];
}

function tokens(): LargeText[] {
  return [
    { name: 'text without end', text: filled(`${MATCH}WHERE e.formation = '`, 'x', '') },
    { name: 'text of escapes', text: filled(`${MATCH}WHERE e.formation = '`, '\\u0041', "' RETURN e") },
    { name: 'text of wrong escapes', text: filled(`${MATCH}WHERE e.formation = '`, '\\u00', "' RETURN e") },
    { name: 'text of doubled quotes', text: filled(`${MATCH}WHERE e.formation = '`, "''", "' RETURN e") },
    { name: 'texts', text: filled(`${MATCH}RETURN `, "'a'", '', ' ') },
    { name: 'comment without end', text: filled(MATCH, '/*', '') },
    { name: 'comments', text: filled(MATCH, '/**/', 'RETURN e.id') },
    { name: 'comments of stars', text: filled(`${MATCH}/`, '*', '/ RETURN e.id') },
    { name: 'lines of comment', text: filled(MATCH, '//\n', 'RETURN e.id') },
    { name: 'line breaks, then a fault', text: filled(MATCH, '\n', 'RETRUN') },
    { name: 'blanks', text: filled(MATCH, ' \t', 'RETURN e.id') },
    { name: 'digits', text: filled(`${MATCH}RETURN `, '1', ' AS n') },
    { name: 'digits behind a point', text: filled(`${MATCH}RETURN 0.`, '1', ' AS n') },
    { name: 'an exponent', text: filled(`${MATCH}RETURN 1e`, '9', ' AS n') },
    { name: 'points', text: filled(`${MATCH}RETURN e`, '.', '') },
    { name: 'dollars', text: filled(`${MATCH}RETURN `, '$', '') },
    { name: 'parameters', text: filled(`${MATCH}WHERE e.id IN [`, (i) => `$p${i}`, '] RETURN e', ',') },
    { name: 'backquotes', text: filled(`${MATCH}RETURN `, '`a` ', '') },
    { name: 'backquote without end', text: filled(`${MATCH}RETURN \``, 'a', '') },
    { name: 'doubled backquotes', text: filled(`${MATCH}RETURN e.\``, '``', '`') },
    { name: 'letters of other scripts', text: filled(`${MATCH}WHERE e.formation = '`, '\u{1F600}é漢', "' RETURN e") },
    { name: 'halves of pairs', text: filled(`${MATCH}WHERE e.formation = '`, '\ud83d', "' RETURN e") },
    { name: 'letters outside of texts', text: filled(MATCH, '漢', '') },
    { name: 'symbols', text: filled(MATCH, '<>=!%', '') },
    { name: 'semicolons', text: filled('SHOW TABLES', ';', '') },
    { name: 'NUL', text: filled('SHOW TABLES', '\0', '') },
  ];
}

function names(): LargeText[] {
  return [
    { name: 'a word', text: filled('', 'A', '') },
    { name: 'words', text: filled('', 'MATCH ', '') },
    { name: 'a table of a long name', text: filled('MATCH (e:', 'hyperedge', ') RETURN e') },
    { name: 'a column of a long name', text: filled(`${MATCH}RETURN e.`, 'weight', '') },
    { name: 'an alias of a long name', text: filled('MATCH (', 'a', ':hyperedges) RETURN count(*)') },
    { name: 'unknown columns', text: filled(`${MATCH}WHERE `, (i) => `e.weigth${i}=1`, ' RETURN e', ' OR ') },
    { name: 'unknown functions', text: filled(`${MATCH}WHERE `, (i) => `sized${i}(e)=1`, ' RETURN e', ' OR ') },
    { name: 'unknown aliases', text: filled(`${MATCH}WHERE `, (i) => `x${i}.id=1`, ' RETURN e', ' OR ') },
    { name: 'a file of a long name', text: filled("COPY hyperedges TO '", 'a/', "x.csv'") },
  ];
}
