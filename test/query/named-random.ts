// Random statements over named tables. Each is made from a random statement over plain tables with
// the same edges, in which the members are small integers: every integer stands for one key. So the
// naive evaluator and DuckDB, which know nothing of names, judge the statement with the keys.

import type { ColumnDefinition, Database, EdgeInput, PropertyValue, Table } from '../../src/engine/index.ts';
import type { ResultForm } from '../../src/query/binder/column-types.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { NaiveRow, NaiveTable } from './naive-expressions.ts';
import { pick } from './random-expressions.ts';
import { type RandomStatement, randomStatement } from './random-statements.ts';
import { randomEdges } from './random-tables.ts';

/** The nodes by the integers that stand for them. Persons have texts as keys, things integers. */
const KEYS = new Map<number, string | number>([
  [-3, 'Ada'],
  [-2, 'ada'],
  [-1, 'O\'Hara \\ "q"'],
  [0, '😀é'],
  [1, '1'],
  [2, 10],
  [3, -7],
  [4, 0],
  [5, 2 ** 53 - 1],
]);
const LAST_PERSON = 1;
const isPerson = (id: number) => id <= LAST_PERSON;

const COLUMNS: readonly ColumnDefinition[] = [
  { name: 'weight', type: 'REAL' },
  { name: 'mean_dist_m', type: 'REAL' },
  { name: 'formation', type: 'TEXT' },
  { name: 'n', type: 'INTEGER' },
  { name: 'big', type: 'INTEGER' },
  { name: 'score', type: 'REAL' },
  { name: 'place', type: 'TEXT', default: 'home' },
  { name: 'ok', type: 'BOOLEAN' },
  { name: 'open', type: 'BOOLEAN' },
];
const BUILT_IN = 3;

export interface NamedStatement {
  readonly named: RandomStatement;
  /** The same statement over the plain tables. */
  readonly plain: RandomStatement;
}

export interface NamedState {
  readonly database: Database;
  /** The plain tables: Contact and Trip are hyperedge tables, Person and Thing node tables. */
  readonly tables: readonly NaiveTable[];
  readonly statements: readonly NamedStatement[];
  readonly state: string;
  readonly isChanged: boolean;
}

/** Makes random tables and statements, and calls `visit` in every state of the tables. */
export async function eachNamedState(
  seed: number,
  count: number,
  visit: (state: NamedState) => Promise<void>,
): Promise<void> {
  const random = new Random(seed);
  const database = await openSim(simDisk(seed), { core: seed % 3 === 0 ? 'debug' : 'release' });
  const world = new NamedTables(database, random);
  await world.create();
  const statements = Array.from({ length: count }, () => namedStatement(random));
  const { tables } = world;
  await world.insert(10 + random.below(20));
  await visit({ database, tables, statements, state: 'in memory', isChanged: true });
  await database.compact();
  await visit({ database, tables, statements, state: 'compacted', isChanged: false });
  await world.insert(random.below(20));
  await world.change();
  await visit({ database, tables, statements, state: 'half and half', isChanged: true });
  for (const table of ['Contact', 'Trip', 'Person', 'Thing'])
    for (const column of ['n', 'score', 'weight']) if (random.below(2) === 0) await database.createIndex(table, column);
  await visit({ database, tables, statements, state: 'indexed', isChanged: false });
  await database.close();
}

class NamedTables {
  readonly tables: readonly NaiveTable[] = ['Contact', 'Trip', 'Person', 'Thing'].map((name) => ({
    name,
    bucketSeconds: 10,
    columns: COLUMNS,
    intervals: false,
    rows: [],
  }));
  readonly #database: Database;
  readonly #random: Random;

  constructor(database: Database, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  #rows(name: string): NaiveRow[] {
    return this.tables.find((table) => table.name === name)!.rows;
  }

  async create(): Promise<void> {
    const { nodes } = this.#database;
    const columns: ColumnDefinition[] = [
      { name: 'id', type: 'INTEGER' },
      { name: 'event_ts', type: 'INTEGER' },
      ...COLUMNS,
    ];
    const person = await nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns });
    const thing = await nodes.createTable({ name: 'Thing', key: { name: 'name', type: 'INTEGER' }, columns });
    const own = COLUMNS.slice(BUILT_IN);
    await this.#database.createTable({ name: 'Contact', memberTables: ['Person'], columns: own, bucketSeconds: 10 });
    await this.#database.createTable({
      name: 'Trip',
      memberTables: ['Thing', 'Person'],
      columns: own,
      bucketSeconds: 10,
    });
    for (const id of [...KEYS.keys()].sort(() => this.#random.below(3) - 1))
      await this.#node(isPerson(id) ? person : thing, id);
  }

  async #node(table: Table, id: number): Promise<void> {
    const rows = this.#rows(table.name);
    const [edge] = plainEdges(this.#random, 1);
    const own = rows.length + 1;
    const given = { ...edge!.properties, name: KEYS.get(id)!, id: own, event_ts: edge!.event_ts };
    const transaction = this.#database.begin();
    transaction.insertNode(table, given as Record<string, PropertyValue>);
    await transaction.commit();
    rows.push(naiveRow(own, edge!.event_ts, [id], given));
  }

  async insert(count: number): Promise<void> {
    for (const name of ['Contact', 'Trip']) {
      const table = this.#database.table(name);
      const bulk = table.bulk();
      const edges = plainEdges(this.#random, 1 + count).map((edge) => ({
        ...edge,
        members: this.#members(edge, name),
      }));
      for (const edge of edges) bulk.add({ ...edge, members: edge.members.map((id) => reference(id)) });
      const { firstId } = await bulk.commit();
      for (const [index, { event_ts, members, properties = {} }] of edges.entries())
        this.#rows(name).push(naiveRow(firstId + index, event_ts, members, properties));
    }
  }

  /** Contact has persons only. */
  #members({ members }: EdgeInput, name: string): number[] {
    const ids = [...new Set(members as number[])];
    return name === 'Trip' ? ids : [...new Set(ids.map((id) => (isPerson(id) ? id : id - 5)))];
  }

  /** Changes some attributes of nodes, and deletes some edges. */
  async change(): Promise<void> {
    const transaction = this.#database.begin();
    for (const name of ['Person', 'Thing']) {
      const table = this.#database.nodes.table(name);
      const rows = this.#rows(name);
      for (const [place, row] of rows.entries()) {
        if (this.#random.below(2) === 0) continue;
        const n = this.#random.below(9);
        const key = KEYS.get(row.members[0]!)!;
        const number = this.#database.nodes.find(table, key);
        const { members: _, ...properties } = row;
        transaction.updateRow(
          table,
          { eventTs: number, id: number },
          {
            event_ts: number,
            members: [number],
            properties: { ...properties, n, name: key } as EdgeInput['properties'],
          },
        );
        rows[place] = { ...row, n } as NaiveRow;
      }
    }
    for (const name of ['Contact', 'Trip']) {
      const rows = this.#rows(name);
      for (let place = rows.length - 1; place >= 0; place--) {
        if (this.#random.below(6) > 0) continue;
        const [{ event_ts, id }] = rows.splice(place, 1) as [NaiveRow];
        transaction.deleteRow(this.#database.table(name), { eventTs: event_ts, id });
      }
    }
    await transaction.commit();
  }
}

/** Returns edges of tables without roles and intervals. */
function plainEdges(random: Random, count: number): EdgeInput[] {
  return randomEdges(random, count, []).map(({ properties, ...edge }) => ({
    ...edge,
    properties: { ...properties, end_ts: undefined },
  }));
}

function reference(id: number): { kind: string; key: string | number } {
  return { kind: isPerson(id) ? 'Person' : 'Thing', key: KEYS.get(id)! };
}

function naiveRow(id: number, eventTs: number, members: readonly number[], given: Record<string, unknown>): NaiveRow {
  const row: Record<string, unknown> = { id, event_ts: eventTs, members: [...members].sort((a, b) => a - b) };
  for (const { name, default: value = null } of COLUMNS) row[name] = given[name] === undefined ? value : given[name];
  return row as NaiveRow;
}

// Statements

/** What only edges have. */
const OF_EDGES = /\b(?:bucket|shared|intersects|overlaps|follows|holds|during|size)\s*\(/i;

function namedStatement(random: Random): NamedStatement {
  for (;;) {
    const made = translated(random, randomStatement(random, []));
    if (made !== undefined) return made;
  }
}

/** Returns a statement with keys in place of members, or undefined if it cannot be translated. */
function translated(random: Random, { text, parameters }: RandomStatement): NamedStatement | undefined {
  // With groups, ORDER BY does not find an item that tests a returned row for null.
  if (/\b[abc]\)? IS (?:NOT )?NULL[\s\S]*ORDER BY/i.test(text)) return undefined;
  // The aliases inside an EXISTS cannot be tied outside of it.
  const hasExists = /EXISTS/i.test(text);
  const tables = new Map<string, string>();
  const patterns = text.replace(
    /(?:HYPEREDGE )?\((\w):(\w+)\)( MEMBERS (?:\[[^\]]*\]|'?\$\w+'?))?/g,
    (_, alias, name, members) => {
      const isNode = !hasExists && random.below(3) === 0;
      const table = isNode
        ? pick(random, ['Person', 'Person', 'Thing'])
        : name.toLowerCase() === 'trip'
          ? 'Trip'
          : 'Contact';
      tables.set(alias, table);
      return `(${alias}:${table})${isNode ? '' : (members ?? '')}`;
    },
  );
  const nodes = [...tables].filter(([, table]) => table === 'Person' || table === 'Thing').map(([alias]) => alias);
  const edges = [...tables.keys()].filter((alias) => !nodes.includes(alias));
  if (nodes.length > 0 && OF_EDGES.test(patterns)) return undefined;
  if (nodes.some((alias) => new RegExp(`\\b${alias}\\.members`, 'i').test(patterns))) return undefined;
  if (nodes.length > 0 && /RETURN (?:DISTINCT )?\*/.test(patterns)) return undefined;
  const extra = Array.from({ length: nodes.length === 0 ? 0 : 1 + random.below(2) }, () =>
    tie(random, pick(random, nodes), edges, tables),
  );
  const added = (place: 0 | 1) => {
    const conditions = extra.map((both) => both[place]).join(' AND ');
    if (conditions === '') return patterns;
    const joined = /\sWHERE\s/.test(patterns) ? `AND ${conditions}` : `WHERE ${conditions}`;
    return patterns.replace(/RETURN /, `${joined} RETURN `);
  };
  const named = withKeys(random, added(0), parameters, tables);
  return named && { named, plain: { text: added(1), parameters } };
}

/** Returns a condition on a node, with keys and without. */
function tie(
  random: Random,
  node: string,
  edges: readonly string[],
  tables: ReadonlyMap<string, string>,
): [string, string] {
  const isThing = tables.get(node) === 'Thing';
  const possible = edges.filter((edge) => !isThing || tables.get(edge) === 'Trip');
  const not = random.below(4) === 0 ? 'NOT ' : '';
  if (possible.length > 0 && random.below(4) > 0) {
    const edge = pick(random, possible);
    const several = tables.get(edge) === 'Trip';
    const byKey = several ? `node(${tables.get(node)}, ${node}.name)` : `${node}.name`;
    const named = random.below(3) === 0 ? byKey : node;
    return [`${not}${named} IN ${edge}.members`, `${not}shared(${node}, ${edge}) >= 1`];
  }
  const ids = Array.from({ length: 1 + random.below(3) }, () => random.below(9) - 3).filter(
    (id) => isPerson(id) !== isThing,
  );
  const key = (id: number) => literalOf(KEYS.get(id)!);
  if (ids.length === 1) return [`${not}${node}.name = ${key(ids[0]!)}`, `${not}${ids[0]} IN ${node}.members`];
  const plain = ids.length === 0 ? 'false' : ids.map((id) => `${id} IN ${node}.members`).join(' OR ');
  return [`${not}${node}.name IN [${ids.map(key).join(', ')}]`, `${not}(${plain})`];
}

function literalOf(key: string | number): string {
  return typeof key === 'number' ? String(key) : `'${key.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Puts keys in place of the integers before IN and in lists of members. */
function withKeys(
  random: Random,
  text: string,
  parameters: RandomStatement['parameters'],
  tables: ReadonlyMap<string, string>,
): RandomStatement | undefined {
  const given: Record<string, unknown> = { ...parameters };
  let isLost = false;
  // ORDER BY finds an item by its spelling, so one member of one alias has one spelling.
  const spelled = new Map<string, string>();
  const keyFor = (id: number, alias: string): string => {
    const before = spelled.get(`${id} ${alias}`);
    if (before !== undefined) return before;
    const text = spell(id, alias);
    spelled.set(`${id} ${alias}`, text);
    return text;
  };
  const spell = (id: number, alias: string): string => {
    const several = tables.get(alias) === 'Trip';
    const key = isPerson(id) || several ? KEYS.get(id)! : `nobody ${id}`;
    const name = `k${Object.keys(given).length}`;
    if (random.below(3) === 0) given[name] = key;
    const value = random.below(3) === 0 && Object.hasOwn(given, name) ? `$${name}` : literalOf(key);
    return several || random.below(5) === 0
      ? `node(${isPerson(id) || !several ? 'Person' : 'Thing'}, ${value})`
      : value;
  };
  const listFor = (list: string, alias: string): string => {
    const name = /^'?\$(\w+)'?$/.exec(list)?.[1];
    const ids = name === undefined ? list.slice(1, -1).split(',').map(Number) : (parameters[name] as number[]);
    if (!ids.every(Number.isSafeInteger)) isLost = true;
    if (name === undefined || tables.get(alias) === 'Trip') return `[${ids.map((id) => keyFor(id, alias)).join(', ')}]`;
    given[name] = ids.map((id) => (isPerson(id) ? KEYS.get(id)! : `nobody ${id}`));
    return `$${name}`;
  };
  const list = String.raw`\[[-\d, ]*\]|'?\$\w+'?`;
  const result = text
    .replace(
      new RegExp(`\\((\\w):(\\w+)\\) MEMBERS (${list})`, 'g'),
      (_, alias, table, items) => `(${alias}:${table}) MEMBERS ${listFor(items, alias)}`,
    )
    .replace(
      new RegExp(`(\\w)\\.members (=|<>) (${list})`, 'gi'),
      (_, alias, operator, items) => `${alias}.members ${operator} ${listFor(items, alias)}`,
    )
    .replace(/(-?\d+) (NOT )?IN (\w)\.members/gi, (found, id, not, alias, at, whole: string) => {
      const isAlone = /(?:[(,]|\b(?:AND|OR|NOT|WHERE|RETURN|BY|DISTINCT))$/i.test(whole.slice(0, at).trimEnd());
      return isAlone ? `${keyFor(Number(id), alias)} ${not ?? ''}IN ${alias}.members` : found;
    });
  // What is left compares members with computed integers, which no key is.
  const rest = result.replace(
    /(?:'(?:[^'\\]|''|\\.)*'|\$k\d+|node\([^()]*(?:\([^()]*\))?[^()]*\)|(?<=[^\w.])[a-z](?:\.name)?) (?:NOT )?IN \w\.members/gi,
    '',
  );
  if (isLost || /IN \w\.members/i.test(rest)) return undefined;
  return { text: result, parameters: given };
}

// Answers

const IDS = new Map([...KEYS].map(([id, key]) => [JSON.stringify(key), id]));

/**
 * Returns a value of an answer with the integers that stand for keys, in the form of plain tables.
 */
export function plainValue(value: unknown, { type, items, named }: ResultForm): unknown {
  if (value === null) return null;
  if (type === 'NODES') return membersOf(value, named);
  if (type === 'EDGE') return { ...(value as object), members: membersOf((value as NaiveRow).members, named) };
  if (type === 'NODE') {
    const { name, id, event_ts, ...more } = value as Record<string, unknown>;
    return { id, event_ts, members: [IDS.get(JSON.stringify(name))], ...more };
  }
  if (type === 'LIST' && items !== undefined) return (value as unknown[]).map((item) => plainValue(item, items));
  return value;
}

function membersOf(value: unknown, named: Table | undefined): number[] {
  const several = (named?.kinds?.length ?? 0) > 1;
  return (value as unknown[])
    .map((member) => {
      const id = IDS.get(JSON.stringify(several ? (member as { key: unknown }).key : member))!;
      if (several && (member as { kind: string }).kind !== (isPerson(id) ? 'Person' : 'Thing'))
        throw new Error(`a member has a wrong kind: ${JSON.stringify(member)}`);
      return id;
    })
    .sort((a, b) => a - b);
}
