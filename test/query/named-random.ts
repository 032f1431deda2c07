// Random statements over named tables. Each is made from a random statement over plain tables, by
// writing keys in place of the integers that stand for them.

import type { Table } from '../../src/engine/index.ts';
import type { ResultForm } from '../../src/query/binder/column-types.ts';
import type { Random } from '../support/random.ts';
import type { NaiveRow } from './naive-expressions.ts';
import { EDGE_TABLES, idOf, isPerson, keyOf, kindOf } from './named-random-world.ts';
import { pick } from './random-expressions.ts';
import { type RandomStatement, randomStatement } from './random-statements.ts';

export interface NamedStatement {
  readonly named: RandomStatement;
  /** The same statement over the plain tables. */
  readonly plain: RandomStatement;
}

/** Stands before a list of members whose condition has keys. */
const TRANSLATED = '\u0001';

/** What only edges have. */
const OF_EDGES = /\b(?:bucket|shared|intersects|overlaps|follows|holds|during|size)\s*\(/i;

export function namedStatement(random: Random, roles: readonly string[]): NamedStatement {
  for (;;) {
    const statement = randomStatement(random, roles);
    const made = translated(random, random.below(8) === 0 ? withWholeRows(statement) : statement);
    if (made !== undefined) return made;
  }
}

/** Returns a statement that returns whole rows, which the core may write, if it has one pattern. */
function withWholeRows({ text, parameters }: RandomStatement): RandomStatement {
  const aliases = [...text.matchAll(/\((\w):\w+\)/g)].map(([, alias]) => alias);
  if (aliases.length !== 1) return { text, parameters };
  return { text: text.replace(/RETURN [\s\S]*/, `RETURN ${aliases[0]}`), parameters };
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
      const edges = name.toLowerCase() === 'trip' ? ['Trip'] : ['Contact', 'Contact', 'Contact', 'Load'];
      const table = pick(random, isNode ? ['Person', 'Person', 'Thing'] : edges);
      tables.set(alias, table);
      return `(${alias}:${table})${isNode ? '' : (members ?? '')}`;
    },
  );
  const aliases = [...text.matchAll(/\((\w):\w+\)/g)].map(([, alias]) => alias);
  if (new Set(aliases).size < aliases.length) return undefined;
  const nodes = [...tables].filter(([, table]) => table === 'Person' || table === 'Thing').map(([alias]) => alias);
  const edges = [...tables.keys()].filter((alias) => !nodes.includes(alias));
  if (nodes.length > 0 && OF_EDGES.test(patterns)) return undefined;
  if (nodes.some((alias) => new RegExp(`\\b${alias}\\.(?:members|src|dst)\\b`, 'i').test(patterns))) return undefined;
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
  const kind = tables.get(node)!;
  const isThing = kind === 'Thing';
  const possible = edges.filter((edge) => EDGE_TABLES[tables.get(edge)!]!.includes(kind));
  const not = random.below(4) === 0 ? 'NOT ' : '';
  if (possible.length > 0 && random.below(4) > 0) {
    const edge = pick(random, possible);
    const several = tables.get(edge) === 'Trip';
    const byKey = several ? `node(${kind}, ${node}.name)` : `${node}.name`;
    const named = random.below(3) === 0 ? byKey : node;
    return [`${not}${named} IN ${TRANSLATED}${edge}.members`, `${not}shared(${node}, ${edge}) >= 1`];
  }
  const ids = Array.from({ length: 1 + random.below(3) }, () => random.below(9) - 3).filter(
    (id) => isPerson(id) !== isThing,
  );
  const key = (id: number) => literalOf(keyOf(id)!);
  if (ids.length === 1) return [`${not}${node}.name = ${key(ids[0]!)}`, `${not}${ids[0]} IN ${node}.members`];
  const plain = ids.length === 0 ? 'false' : ids.map((id) => `${id} IN ${node}.members`).join(' OR ');
  return [`${not}${node}.name IN [${ids.map(key).join(', ')}]`, `${not}(${plain})`];
}

/** Returns a key of no node, which may be a member of tables with these kinds. */
function nobody(id: number, kinds: readonly string[]): string | number {
  return kinds.includes('Person') ? `nobody ${id}` : 1000 + id;
}

export function literalOf(key: string | number): string {
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
    const kinds = EDGE_TABLES[tables.get(alias)!] ?? [];
    const key = kinds.includes(kindOf(id)) ? (keyOf(id) ?? nobody(id, kinds)) : nobody(id, kinds);
    const name = `k${Object.keys(given).length}`;
    if (random.below(3) === 0) given[name] = key;
    const value = random.below(3) === 0 && Object.hasOwn(given, name) ? `$${name}` : literalOf(key);
    return several || random.below(5) === 0 ? `node(${typeof key === 'string' ? 'Person' : 'Thing'}, ${value})` : value;
  };
  const listFor = (list: string, alias: string): string => {
    const name = /^'?\$(\w+)'?$/.exec(list)?.[1];
    const ids = name === undefined ? list.slice(1, -1).split(',').map(Number) : (parameters[name] as number[]);
    if (!ids.every(Number.isSafeInteger)) isLost = true;
    if (name === undefined || tables.get(alias) === 'Trip') return `[${ids.map((id) => keyFor(id, alias)).join(', ')}]`;
    const kinds = EDGE_TABLES[tables.get(alias)!] ?? [];
    given[name] = ids.map((id) => (kinds.includes(kindOf(id)) ? keyOf(id)! : nobody(id, kinds)));
    return `$${name}`;
  };
  const list = String.raw`\[[-\d, ]*\]|'?\$\w+'?`;
  const result = text
    .replace(
      new RegExp(`\\((\\w):(\\w+)\\) MEMBERS (${list})`, 'g'),
      (_, alias, table, items) => `(${alias}:${table}) MEMBERS ${listFor(items, alias)}`,
    )
    .replace(
      new RegExp(`(\\w)\\.(members|src|dst) (=|<>) (${list})`, 'gi'),
      (_, alias, nodes, operator, items) => `${alias}.${nodes} ${operator} ${listFor(items, alias)}`,
    )
    .replace(/(-?\d+) (NOT )?IN (\w)\.(members|src|dst)/gi, (found, id, not, alias, nodes, at, whole: string) => {
      const isAlone = /(?:[(,]|\b(?:AND|OR|NOT|WHERE|RETURN|BY|DISTINCT))$/i.test(whole.slice(0, at).trimEnd());
      return isAlone ? `${keyFor(Number(id), alias)} ${not ?? ''}IN ${TRANSLATED}${alias}.${nodes}` : found;
    });
  // What is left compares members with computed integers, which no key is.
  if (isLost || /IN \w\.(?:members|src|dst)/i.test(result)) return undefined;
  return { text: result.replaceAll(TRANSLATED, ''), parameters: given };
}

// Answers

/**
 * Returns a value of an answer with the integers that stand for keys, in the form of plain tables.
 */
export function plainValue(value: unknown, { type, items, named }: ResultForm): unknown {
  if (value === null) return null;
  if (type === 'NODES') return membersOf(value, named);
  if (type === 'EDGE') return plainEdge(value as NaiveRow, named);
  if (type === 'NODE') {
    const { name, id, event_ts, ...more } = value as Record<string, unknown>;
    const num = idOf(name as string | number);
    return { id, event_ts, members: [num], ...more, name, num };
  }
  if (type === 'LIST' && items !== undefined) return (value as unknown[]).map((item) => plainValue(item, items));
  return value;
}

function plainEdge({ roles, ...row }: NaiveRow, named: Table | undefined): unknown {
  const lists = Object.entries((roles ?? {}) as Record<string, unknown>);
  const plain = { roles: Object.fromEntries(lists.map(([role, nodes]) => [role, membersOf(nodes, named)])) };
  const { id, event_ts, members, ...more } = row;
  return { id, event_ts, members: membersOf(members, named), ...(roles === undefined ? {} : plain), ...more };
}

function membersOf(value: unknown, named: Table | undefined): number[] {
  const several = (named?.kinds?.length ?? 0) > 1;
  return (value as unknown[])
    .map((member) => {
      const id = idOf((several ? (member as { key: unknown }).key : member) as string | number);
      if (several && (member as { kind: string }).kind !== kindOf(id))
        throw new Error(`a member has a wrong kind: ${JSON.stringify(member)}`);
      return id;
    })
    .sort((a, b) => a - b);
}
