// Random HIF documents with every part that the schema allows, and what an import and an export
// must make of them. The expectation is computed from the document alone.

import type { Random } from '../support/random.ts';
import { pick } from './round-trip.ts';

export type Id = string | number;
type Attrs = Record<string, unknown>;
export interface Incidence {
  edge: Id;
  node: Id;
  weight?: number;
  direction?: 'head' | 'tail';
  attrs?: Attrs;
}
export interface Element {
  edge?: Id;
  node?: Id;
  weight?: number;
  attrs?: Attrs;
}
export interface HifDocument {
  'network-type'?: string;
  metadata?: Attrs;
  incidences: Incidence[];
  edges?: Element[];
  nodes?: Element[];
}

/** The time of edges that have none: 2020-01-01. */
export const TS = 1_577_836_800;

const TEXT_IDS = [
  ...[
    'a',
    'b',
    'A',
    'Ada',
    'n-1',
    '1',
    '2',
    '7',
    '007',
    '-0',
    '1.0',
    '1e3',
    'true',
    'null',
    'NaN',
    'NULL',
    'id',
    'x;y',
  ],
  ...['a, b', 'a;b', '[1]', '["a"]', '{"kind":"x","key":1}', ' led', 'trailed ', ' ', 'O\'Neil "Bob"', '<b>&amp;</b>'],
  ...[
    '../..',
    '.',
    '..',
    '/',
    '%2F',
    '?',
    '#',
    "'; DROP",
    '`',
    '\\',
    '\\u0000',
    'é',
    'e\u0301',
    '🦊',
    '👩‍👩‍👧',
    '\u202eabc',
  ],
  ...[
    'שלום',
    '中文',
    '\ufeff',
    '\ufffd',
    '\u200b',
    '__proto__',
    'constructor',
    'Person:Ada',
    '9007199254740993',
    'x'.repeat(500),
  ],
];
const NUMBER_IDS = [0, 1, 2, 3, 7, 12, -1, -5, 1000, 2 ** 31, 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1];
const ATTR_NAMES = [
  ...[
    'a',
    'b',
    'c',
    'name',
    'Name',
    'age',
    'topic',
    'colour',
    'größe',
    'two words',
    'two-words',
    '',
    ' ',
    '1st',
    '中文',
  ],
  ...[
    'id',
    'ID',
    'edge',
    'node',
    'key',
    'members',
    'table',
    'properties',
    'roles',
    'role',
    'weight',
    'Weight',
    'formation',
  ],
  ...[
    'mean_dist_m',
    'head',
    'host',
    'edge_name',
    'edge name',
    '__proto__',
    'constructor',
    'toString',
    'order',
    'x'.repeat(80),
  ],
  ...['select', 'match', 'null', 'end_ts', 'kind', 'label', 'weight_2', 'two_words', '\u0000', '🦊'],
];
const TIME_NAMES = ['timestamp', 'date', 'time'];
const TEXTS = [
  ...[
    '',
    ' ',
    'x',
    ' both ',
    '12',
    '007',
    'true',
    'null',
    'NaN',
    '1e5',
    'a;b',
    '"',
    '\\',
    'line\nline',
    '\u0000',
    '\u0001',
  ],
  ...['🦊', 'e\u0301', '\ufeff', '\u202eabc', '{"a":1}', '[1]', '2024-01-01', 'NULL', '<&>', 'x'.repeat(2000)],
];
const NUMBERS = [0, 1, -1, 42, 0.5, -1.25, 1e-7, 1e21, 5e-324, 1.7976931348623157e308, 2 ** 53 - 1, 2 ** 60, 0.1 + 0.2];
const NESTED = [[], {}, [1, 'a', null], { a: { b: [true] } }, [[]], { '': 'x', '🦊': null }];
const ROLES = ['host', 'guest', 'sender', 'Host', 'edge', 'a'];
/** Values of the attribute `role` that are no roles, or not all of them. */
const NO_ROLES = ['two words', 3, null, [], ['host', 3], { a: 1 }, 'weight', 'end_ts', '', ['id']];

/** Returns a document that complies with the schema; the same one for the same random numbers. */
export function randomDocument(random: Random): HifDocument {
  const document: HifDocument = { incidences: [] };
  if (random.chance(0.6)) document['network-type'] = pick(['undirected', 'directed', 'asc'], random);
  if (random.chance(0.3)) document.metadata = pick([{}, { name: 'x' }, { a: { b: [1] }, c: null }, { '': 1 }], random);
  const nodes = idsOf(random, 1 + random.below(8));
  const edges = idsOf(random, 1 + random.below(6));
  const isDirected = random.chance(0.4);
  const [withWeights, withAttrs] = [random.chance(0.2), random.chance(0.3)];
  const most = random.chance(0.1) ? 0 : random.below(16);
  for (let i = 0; i < most; i++) {
    const incidence: Incidence = { edge: pick(edges, random), node: pick(nodes, random) };
    if (withWeights && random.chance(0.5)) incidence.weight = pick(NUMBERS, random);
    if (isDirected && random.chance(0.8)) incidence.direction = pick(['head', 'tail'], random);
    if (withAttrs && random.chance(0.7)) incidence.attrs = incidenceAttrs(random);
    document.incidences.push(incidence);
    if (random.chance(0.05)) document.incidences.push({ ...incidence });
  }
  if (random.chance(0.7)) document.nodes = elements('node', [...nodes, ...idsOf(random, random.below(3))], random);
  if (random.chance(0.7)) document.edges = elements('edge', [...edges, ...idsOf(random, random.below(2))], random);
  // The order of the fields is free.
  return random.chance(0.5)
    ? document
    : (Object.fromEntries(Object.entries(document).reverse()) as unknown as HifDocument);
}

function idsOf(random: Random, count: number): Id[] {
  const kind = random.below(10);
  return Array.from({ length: count }, () => {
    if (kind < 4) return pick(NUMBER_IDS, random);
    return kind < 9 || random.chance(0.5) ? pick(TEXT_IDS, random) : pick(NUMBER_IDS, random);
  });
}

function incidenceAttrs(random: Random): Attrs {
  if (random.chance(0.1)) return {};
  if (random.chance(0.2)) return { role: pick(NO_ROLES, random) };
  const role = random.chance(0.2) ? ['host', 'guest'] : pick(ROLES, random);
  return random.chance(0.2) ? { role, since: 3 } : { role };
}

function elements(what: 'node' | 'edge', ids: readonly Id[], random: Random): Element[] {
  const names = Array.from({ length: random.below(5) }, () => pick(ATTR_NAMES, random));
  if (what === 'edge' && random.chance(0.2)) names.push(pick(TIME_NAMES, random));
  const kinds = new Map(names.map((name) => [name, random.below(8)]));
  const time = what === 'edge' ? random.below(6) : 9;
  const withWeights = random.chance(0.3);
  return ids.flatMap((id) => {
    if (random.chance(0.15)) return [];
    const element: Element = { [what]: id };
    if (withWeights && random.chance(0.7)) element.weight = pick(NUMBERS, random);
    if (random.chance(0.8)) element.attrs = attrsOf(kinds, time, random);
    return random.chance(0.05) ? [element, { ...element, attrs: attrsOf(kinds, time, random) }] : [element];
  });
}

function attrsOf(kinds: ReadonlyMap<string, number>, time: number, random: Random): Attrs {
  const attrs: Attrs = {};
  const set = (name: string, value: unknown) =>
    Object.defineProperty(attrs, name, { value, enumerable: true, configurable: true, writable: true });
  for (const [name, kind] of kinds)
    if (random.chance(0.8))
      set(name, TIME_NAMES.includes(name) ? '2021-05-06T07:08:09Z' : randomAttr(name, kind, random));
  if (time < 2) set('event_ts', 1_000_000_000 + random.below(700_000_000));
  if (time === 2 && random.chance(0.7)) set('event_ts', `2019-01-0${1 + random.below(9)}T00:00:01Z`);
  return attrs;
}

function randomAttr(name: string, kind: number, random: Random): unknown {
  // Ends lie behind all times.
  if (name === 'end_ts') return kind < 5 ? 1_900_000_000 + random.below(1e6) : pick(TEXTS, random);
  if (random.chance(0.1)) return null;
  if (kind < 2) return pick(NUMBERS, random);
  if (kind < 3) return random.below(1000);
  if (kind < 5) return pick(TEXTS, random);
  if (kind < 6) return random.chance(0.5);
  return kind < 7 ? pick(NESTED, random) : pick([...NUMBERS, ...TEXTS, ...NESTED, true, false], random);
}
