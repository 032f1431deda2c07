// Fuzzes statements: cut, spliced and garbled ones must return rows or a documented refusal, with
// bounded work.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { bindDelete, bindInsert, bindUpdate } from '../../src/query/binder/changes.ts';
import { Identities } from '../../src/query/binder/identities.ts';
import { bindMatch } from '../../src/query/binder/match.ts';
import { chunkText, rowKeys } from '../../src/query/executor/rows/result-text.ts';
import { runMatch } from '../../src/query/executor/run-match.ts';
import { explainRow } from '../../src/query/explain.ts';
import type { Statement } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { countCalls } from './counted-calls.ts';
import { contextOf, planBound } from './execute.ts';
import { type GoldenCase, goldenNames, readGolden } from './golden-file.ts';
import { pick } from './random-expressions.ts';
import { randomStatement } from './random-statements.ts';
import { makeTables, ROLES, randomEdges } from './random-tables.ts';

/** HEDGEROW_FUZZ=200000 is the long form. */
const STATEMENTS = Number(process.env.HEDGEROW_FUZZ ?? 3000);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);

let database: Database;

beforeAll(async () => {
  const random = new Random(4711);
  database = await openSim(simDisk(), { core: 'debug' });
  for (const table of await makeTables(database, random, ROLES)) await table.insert(randomEdges(random, 8, ROLES));
  await database.compact();
});

afterAll(() => database.close());

const OTHERS = [
  'INSERT INTO Contact (event_ts, members, n, place) VALUES (1, [1, 2], 3, $p), (2, $list, null, "x")',
  "UPDATE Contact SET n = n + 1, T.place = 'x' WHERE 5 IN members AND bucket(Contact) = 1",
  'DELETE FROM Trip WHERE Trip.n BETWEEN 1 AND 2 OR ok',
  'CREATE HYPEREDGE TABLE IF NOT EXISTS T (a, b) PROPERTIES (x INT, y TEXT) BUCKET_SECONDS 5 COMPACT_THRESHOLD 6',
  'ALTER TABLE T ADD COLUMN c REAL DEFAULT 1.5',
  "COPY (MATCH (a:Contact) RETURN *) TO 'file.csv'",
  'EXPLAIN MATCH (a:Contact) WHERE a.n = 1 RETURN a.id',
];
const CORPUS = goldenNames().flatMap((name) =>
  readGolden(name)
    .parts.filter((part): part is GoldenCase => typeof part !== 'string')
    .map((one) => one.text),
);

const PIECES = [
  ...'()[],:.;=<>+-*/%\'"`$\\{}#?!&|~^@ \n\t\0\u00e9\ud83d\ude00\u2028'.split(''),
  ...'MATCH HYPEREDGE MEMBERS WHERE RETURN DISTINCT ORDER BY ASC DESC SKIP LIMIT AND OR NOT IN BETWEEN IS NULL CONTAINS STARTS WITH ENDS AS'.split(
    ' ',
  ),
  ...'true false null count sum avg min max collect size bucket shared intersects overlaps follows holds during a b a.n a.members a.src b.dst b.place Contact Trip'.split(
    ' ',
  ),
  ...[
    '0',
    '1',
    '-1',
    '1.5',
    '1e308',
    '1e-320',
    '9007199254740991',
    '9007199254740992',
    '99999999999999999999',
    '0x1',
    '.5',
    '5.',
    "''",
    '"',
    "'$p'",
    '$p',
    '$list',
    '//',
    '/*',
    '*/',
    '<>',
    '!=',
    '<=',
    ';',
    '[]',
    '()',
  ],
];

const PARAMETERS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { p: 1, list: [1, 2], p0: 5, p1: 'x', w0: 2, n: 7 },
  { p: null, list: [], p0: null, p1: true, w0: 0, n: 1.5 },
  { p: 'x', list: ['a', null], p0: [1], p1: {}, w0: -1, n: 2 ** 53 - 1 },
  { p: -(2 ** 53) + 1, list: [2 ** 53], p0: Number.NaN, p1: 1e308, w0: 1e300, n: undefined },
];

function mutated(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const length = random.below(12);
  switch (random.below(8)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + length);
    case 1:
      return text.slice(0, at) + pick(random, PIECES) + text.slice(at);
    case 2:
      return `${text.slice(0, at)} ${pick(random, PIECES)} ${text.slice(at + length)}`;
    case 3:
      return (
        text.slice(0, at) + text.slice(at, at + 3 * length).repeat(1 + random.below(6)) + text.slice(at + 3 * length)
      );
    case 4:
      return text.slice(0, at);
    case 5: {
      const other = source(random);
      return text.slice(0, at) + other.slice(random.below(other.length + 1));
    }
    case 6: {
      const words = text.split(' ');
      const [i, j] = [random.below(words.length), random.below(words.length)];
      [words[i], words[j]] = [words[j]!, words[i]!];
      return words.join(' ');
    }
    default:
      return text.replace(/\d+/, () => pick(random, PIECES));
  }
}

function source(random: Random): string {
  const kind = random.below(8);
  if (kind === 0) return pick(random, OTHERS);
  return kind < 4 ? randomStatement(random, ROLES).text : pick(random, CORPUS);
}

/** Maximum number of steps of one statement over a dozen rows. A step takes at most a few ms. */
const MOST_STEPS = 20_000;

/** Runs a statement through all phases. Returns true if it had an answer. */
function run(text: string, parameters: Readonly<Record<string, unknown>>): boolean {
  try {
    through(parseStatement(text), text, parameters);
    return true;
  } catch (error) {
    if (error instanceof HedgerowError && error.status >= 400 && error.status < 500) {
      expect(error.message.length).toBeLessThan(1000);
      return false;
    }
    throw new Error(`${JSON.stringify(text)} ${JSON.stringify(parameters)}`, { cause: error });
  }
}

function through(statement: Statement, text: string, parameters: Readonly<Record<string, unknown>>): void {
  if (statement.kind === 'explain' || statement.kind === 'analyze') through(statement.statement, text, parameters);
  else if (statement.kind === 'insert') bindInsert(statement, text, database, parameters);
  else if (statement.kind === 'update') bindUpdate(statement, text, database, parameters);
  else if (statement.kind === 'delete') bindDelete(statement, text, database, parameters);
  else if (statement.kind === 'match') {
    const plan = planBound(bindMatch(statement, text, database, parameters), parameters);
    JSON.parse(JSON.stringify(explainRow(plan)));
    const keys = rowKeys(plan.match.items.map((item) => item.name));
    let steps = 0;
    for (const chunk of runMatch(plan, contextOf(plan, parameters))) {
      steps++;
      if (chunk !== null && steps % 10 === 1) JSON.parse(`[${chunkText(chunk, keys, '')}]`);
    }
    expect(steps).toBeLessThan(MOST_STEPS);
  }
}

describe('garbled statements', () => {
  const rounds = 20;
  it.each(Array.from({ length: rounds }, (_, place) => FIRST_SEED + place))(
    'give rows or a refusal for seed %i',
    (seed) => {
      const random = new Random(seed);
      let answers = 0;
      for (let i = 0; i < STATEMENTS / rounds; i++) {
        let text = source(random);
        for (let times = random.below(4); times > 0; times--) text = mutated(random, text);
        if (run(text, pick(random, PARAMETERS))) answers++;
      }
      expect(answers).toBeGreaterThan(0);
    },
    600_000,
  );

  it('are refused if they consist of arbitrary characters', () => {
    const random = new Random(FIRST_SEED);
    for (let i = 0; i < STATEMENTS / 10; i++) {
      const codes = Array.from({ length: random.below(60) }, () =>
        random.below(3) > 0 ? 32 + random.below(95) : random.below(0x10000),
      );
      expect(run(String.fromCharCode(...codes), {})).toBe(false);
    }
  });
});

describe('a statement with 100 KB of one element', () => {
  const LENGTH = 100_000;
  const fill = (before: string, piece: (i: number) => string, behind: string, length = LENGTH) => {
    let text = before;
    for (let i = 0; text.length < length; i++) text += piece(i);
    return text + behind;
  };
  const tower = (levels: number) =>
    Array.from({ length: levels }).reduce<string>((inner) => `(${inner}${' + 1'.repeat(200)})`, 'a.n');
  const aliases = Array.from({ length: 16 }, (_, i) => `a${i}`);
  const sixteen = `MATCH ${aliases.map((alias) => `(${alias}:Contact)`).join(', ')}`;

  it.each<[string, string]>([
    ['items', fill('MATCH (a:Contact) RETURN ', (i) => `a.n AS x${i},`, 'a.n', 20_000)],
    ['IN', fill('MATCH (a:Contact) WHERE a.n IN [', () => '1,', '1] RETURN *')],
    ['IN of columns', fill('MATCH (a:Contact) WHERE a.n IN [', () => 'a.n,', '1] RETURN *')],
    ['times', fill('MATCH (a:Contact) WHERE a.event_ts IN [', (i) => `${i},`, '1] RETURN *')],
    ['MEMBERS', fill('MATCH (a:Contact) MEMBERS [', (i) => `${i},`, '1] RETURN *')],
    ['conditions on time', fill('MATCH (a:Contact) WHERE ', (i) => `a.event_ts>${-i} AND `, 'a.n=2 RETURN *', 38_000)],
    ['nodes', fill('MATCH (a:Contact) WHERE ', (i) => `${i} IN a.members AND `, 'a.n=2 RETURN *', 38_000)],
    ['ranges', fill('MATCH (a:Contact) WHERE ', (i) => `a.n>${-i} AND `, 'a.n=2 RETURN *', 20_000)],
    ['OR', fill('MATCH (a:Contact) WHERE ', () => '(a.n=1 OR a.n=2 AND a.n=3) AND ', 'a.n=2 RETURN *', 50_000)],
    ['aggregates', fill('MATCH (a:Contact) RETURN ', (i) => `count(a.n+${i}) AS x${i},`, 'a.n', 40_000)],
    ['keys', fill('MATCH (a:Contact) RETURN ', (i) => `a.n+${i} AS x${i},`, 'count(*)', 30_000)],
    [
      'towers of two',
      `MATCH (a:Contact) RETURN ${Array.from({ length: 60 }, (_, i) => `${tower(2)} AS x${i}`).join()}, count(*)`,
    ],
    [
      'towers of four',
      `MATCH (a:Contact) RETURN ${Array.from({ length: 30 }, (_, i) => `${tower(4)} AS x${i}`).join()}`,
    ],
    [
      'AND in OR in AND',
      `MATCH (a:Contact) WHERE ${Array.from({ length: 100 }, () => Array.from({ length: 45 }).reduce<string>((inner, _, i) => `(a.n=1 ${i % 2 === 0 ? 'OR' : 'AND'} ${inner})`, 'a.ok')).join(' AND ')} RETURN *`,
    ],
    [
      'joins by equality',
      `${sixteen} WHERE ${Array.from({ length: 1900 }, (_, i) => `a${i % 16}.id=a${(i + 1) % 16}.id`).join(' AND ')} RETURN count(*)`,
    ],
    [
      'joins by time',
      `${sixteen} WHERE ${Array.from({ length: 1900 }, (_, i) => `overlaps(a${i % 16},a${(i + 1) % 16},0)`).join(' AND ')} AND a0.id = 1 RETURN count(*)`,
    ],
    ['products', `${sixteen} RETURN count(*)`],
    ['pairs', `${sixteen} WHERE ${aliases.map((alias) => `${alias}.n`).join('+')} > 5 RETURN count(*)`],
    ['a text', `MATCH (a:Contact) WHERE a.place CONTAINS '${'x'.repeat(LENGTH)}' RETURN *`],
    ['a name', `MATCH (a:Contact) RETURN a.${'x'.repeat(LENGTH)}`],
    ['a function', `MATCH (a:Contact) RETURN ${'x'.repeat(LENGTH)}(a)`],
  ])('is answered with work in proportion to its length: %s', (_, text) => {
    const looks = countCalls(Identities.prototype, ['of'], () => void run(text, {}));
    expect(looks).toBeLessThan(2 * LENGTH);
  });
});
