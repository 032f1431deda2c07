// Defines the statements that are raced: the same question in our language and in SQL, with the
// parameters of each run.

import { randomFrom } from '../test/core/support/random.ts';
import { drawCoMembers, drawNodes, drawPairs, drawWindows, type Edge } from './dataset.ts';
import type { Target } from './row.ts';
import { BUCKET_SECONDS, KINDS, type Parameters } from './statement-sides.ts';

/**
 * One kind of statement, in the language of each side; `$name` is a parameter in all three
 * languages.
 */
export interface StatementKind {
  readonly name: string;
  readonly text: string;
  /**
   * SQL that returns the same rows. With several forms, the one that is fastest on a few queries is
   * the peer.
   */
  readonly duckdb: readonly string[];
  /** Empty when SQLite does not take part. */
  readonly sqlite: readonly string[];
  readonly queries: readonly Parameters[];
  readonly target: Target;
}

const LOOKUP: Target = { ratioAtLeast: 5 };
const SCAN: Target = { ratioAtLeast: 1 };

/** Returns all kinds except scans. `share` scales the number of queries, relative to a full run. */
export function lookupKinds(edges: readonly Edge[], share: number): StatementKind[] {
  const count = (whole: number) => Math.max(2, Math.round(whole * share));
  return [...rangeKinds(edges, count), ...memberKinds(edges, count), ...joinKinds(edges, count)];
}

type Count = (whole: number) => number;

function rangeKinds(edges: readonly Edge[], count: Count): StatementKind[] {
  const windows = (share: number, seed: number) =>
    drawWindows(edges, count(100), share, seed).map(({ startTs, endTs }) => ({ a: startTs, b: endTs }));
  const range = 'MATCH (e:Post) WHERE e.event_ts BETWEEN $a AND $b';
  const both = (sql: string) => ({ duckdb: [sql], sqlite: [sql], target: LOOKUP });
  return [
    {
      name: 'rows of 1 % of the span, weight above 20',
      text: `${range} AND e.weight > $w RETURN e.id, e.event_ts, e.weight`,
      ...both('select id, ts, weight from e where ts between $a and $b and weight > $w'),
      queries: windows(0.01, 62).map((window) => ({ ...window, w: 20.125 })),
    },
    {
      name: 'COUNT(*) of 10 % of the span',
      text: `${range} RETURN count(*)`,
      ...both('select count(*) from e where ts between $a and $b'),
      queries: windows(0.1, 63),
    },
    {
      name: 'COUNT and SUM(weight) by bucket, 1 % of the span',
      text: `${range} RETURN bucket(e), count(*), sum(e.weight)`,
      duckdb: [
        `select ts // ${BUCKET_SECONDS}, count(*), sum(weight) from e where ts between $a and $b group by ts // ${BUCKET_SECONDS}`,
      ],
      sqlite: [
        `select ts / ${BUCKET_SECONDS}, count(*), sum(weight) from e where ts between $a and $b group by ts / ${BUCKET_SECONDS}`,
      ],
      queries: windows(0.01, 64),
      target: LOOKUP,
    },
    {
      name: 'COUNT and AVG(weight) by kind, 1 % of the span',
      text: `${range} RETURN e.kind, count(*), avg(e.weight)`,
      ...both('select kind, count(*), avg(weight) from e where ts between $a and $b group by kind'),
      queries: windows(0.01, 65),
    },
  ];
}

function memberKinds(edges: readonly Edge[], count: Count): StatementKind[] {
  const columns = 'e.id, e.ts, e.weight';
  const pair = {
    text: 'MATCH (e:Post) WHERE $x IN e.members AND $y IN e.members RETURN e.id, e.event_ts, e.weight',
    duckdb: [
      `select ${columns} from e join (select eid from m where node = $x intersect select eid from m where node = $y) p on p.eid = e.id`,
      `select ${columns} from m p join m q on q.eid = p.eid join e on e.id = p.eid where p.node = $x and q.node = $y`,
      `select ${columns} from (select eid from m where node in ($x, $y) group by eid having count(*) = 2) p join e on e.id = p.eid`,
    ],
    sqlite: [
      `select ${columns} from e where id in (select eid from m where node = $x intersect select eid from m where node = $y)`,
      `select ${columns} from m p join m q on q.eid = p.eid and q.node = $y join e on e.id = p.eid where p.node = $x`,
      `select ${columns} from m p join m q on q.node = $y and q.ts = p.ts and q.eid = p.eid join e on e.id = p.eid where p.node = $x`,
    ],
    target: LOOKUP,
  };
  return [
    {
      name: 'edges of a node drawn by degree',
      text: 'MATCH (e:Post) WHERE $n IN e.members RETURN e.id, e.event_ts, e.weight',
      duckdb: [
        `select ${columns} from m join e on e.id = m.eid where m.node = $n`,
        'select id, ts, weight from e where id in (select eid from m where node = $n)',
      ],
      sqlite: [`select ${columns} from m join e on e.id = m.eid where m.node = $n`],
      queries: drawNodes(edges, count(100), 66).map((n) => ({ n })),
      target: LOOKUP,
    },
    {
      name: 'edges of a node in 1 % of the span',
      text: 'MATCH (e:Post) WHERE $n IN e.members AND e.event_ts BETWEEN $a AND $b RETURN e.id, e.event_ts, e.weight',
      duckdb: [
        `select ${columns} from m join e on e.id = m.eid where m.node = $n and m.ts between $a and $b`,
        `select ${columns} from m join e on e.id = m.eid where m.node = $n and m.ts between $a and $b and e.ts between $a and $b`,
      ],
      sqlite: [`select ${columns} from m join e on e.id = m.eid where m.node = $n and m.ts between $a and $b`],
      queries: nodesInWindows(edges, count(300)),
      target: LOOKUP,
    },
    {
      ...pair,
      name: 'edges of two nodes, pairs from random edges',
      queries: drawCoMembers(edges, count(100), 67).map(([x, y]) => ({ x, y })),
    },
    {
      ...pair,
      name: 'edges of two nodes drawn by degree',
      queries: drawPairs(edges, count(100), 68).map(([x, y]) => ({ x, y })),
    },
  ];
}

/**
 * Returns windows of a hundredth of the span around random edges, each with one node of that edge.
 */
function nodesInWindows(edges: readonly Edge[], count: number): Parameters[] {
  const random = randomFrom(69);
  const width = Math.ceil((edges[edges.length - 1]!.event_ts - edges[0]!.event_ts) / 100);
  return Array.from({ length: count }, () => {
    const { event_ts, members } = edges[random.below(edges.length)]!;
    const a = event_ts - Math.floor(random.unit() * width);
    return { n: members[random.below(members.length)]!, a, b: a + width };
  });
}

/** Returns windows at random places, each with about `edgesEach` edges. */
function windowsOfEdges(
  edges: readonly Edge[],
  count: number,
  edgesEach: number,
  seed: number,
): { a: number; b: number }[] {
  const random = randomFrom(seed);
  const each = Math.min(edgesEach, edges.length >> 2);
  return Array.from({ length: count }, () => {
    const first = random.below(edges.length - each);
    return { a: edges[first]!.event_ts, b: edges[first + each]!.event_ts };
  });
}

function joinKinds(edges: readonly Edge[], count: Count): StatementKind[] {
  const first = windowsOfEdges(edges, count(50), 500, 70);
  const second = windowsOfEdges(edges, count(50), 500, 71);
  const twoWindows = (order: string) =>
    `select distinct p.eid, q.eid from m p ${order} m q on q.node = p.node where p.ts between $a and $b and q.ts between $c and $d`;
  const band =
    'select p.id, q.id from e p join e q on q.ts between p.ts - 300 and p.ts + 300 where p.ts between $a and $b and p.weight > 20 and q.weight > 20';
  return [
    {
      name: 'pairs of two windows of 500 edges that share a member',
      text: 'MATCH (p:Post), (q:Post) WHERE p.event_ts BETWEEN $a AND $b AND q.event_ts BETWEEN $c AND $d AND intersects(p, q) RETURN p.id, q.id',
      duckdb: [twoWindows('join')],
      sqlite: [twoWindows('join'), twoWindows('cross join')],
      queries: first.map(({ a, b }, index) => ({ a, b, c: second[index]!.a, d: second[index]!.b })),
      target: LOOKUP,
    },
    {
      name: 'pairs within 300 s, weights above 20, a window of 5,000 edges',
      text: 'MATCH (p:Post), (q:Post) WHERE p.event_ts BETWEEN $a AND $b AND p.weight > 20 AND q.weight > 20 AND overlaps(p, q, 300) RETURN p.id, q.id',
      duckdb: [`${band} and q.ts between $a - 300 and $b + 300`, band],
      sqlite: [band, `${band} and q.ts between $a - 300 and $b + 300`],
      queries: windowsOfEdges(edges, count(50), 5000, 72),
      target: LOOKUP,
    },
    chainKind(edges, count, 3),
    chainKind(edges, count, 4),
  ];
}

/**
 * Returns a kind for chains of edges: each edge shares a member with the edge before it, and
 * follows it within an hour.
 */
function chainKind(edges: readonly Edge[], count: Count, length: number): StatementKind {
  const names = ['p', 'q', 'r', 's'].slice(0, length);
  const steps = names.slice(1).map((name, place) => [names[place]!, name] as const);
  const conditions = steps.map(([from, to]) => `follows(${to}, ${from}, 3600) AND shared(${from}, ${to}) >= 1`);
  const behind = 3600 * steps.length;
  const pairs = (join: string) =>
    `select distinct x.eid f, y.eid t, x.ts fts from m x ${join} m y on y.node = x.node and y.ts > x.ts and y.ts <= x.ts + 3600
     where x.ts between $a and $b + ${behind} and y.ts <= $b + ${behind}`;
  const chain = (pair: string, kept: string) => `with l as ${kept} (${pair})
    select l1.f, ${steps.map((_, place) => `l${place + 1}.t`).join(', ')} from l l1
    ${steps
      .slice(1)
      .map((_, place) => `join l l${place + 2} on l${place + 2}.f = l${place + 1}.t`)
      .join(' ')}
    where l1.fts between $a and $b`;
  return {
    name: `chains of ${length} edges, each sharing a member with the one at most an hour before`,
    text: `MATCH ${names.map((name) => `(${name}:Post)`).join(', ')} WHERE p.event_ts BETWEEN $a AND $b AND ${conditions.join(' AND ')} RETURN ${names.map((name) => `${name}.id`).join(', ')}`,
    duckdb: [chain(pairs('join'), 'materialized'), chain(pairs('join'), 'not materialized')],
    sqlite: [chain(pairs('join'), 'materialized'), chain(pairs('cross join'), 'materialized')],
    queries: windowsOfEdges(edges, count(30), 1000, 73 + length),
    target: LOOKUP,
  };
}

type Whole = readonly [name: string, ours: string, sql: string, parameters?: (i: number) => Parameters];

const score = (i: number) => ({ s: 300 + 17 * i });
const WHOLE: readonly Whole[] = [
  ['COUNT(*)', 'RETURN count(*)', 'select count(*) from e'],
  ['SUM(weight)', 'RETURN sum(e.weight)', 'select sum(weight) from e'],
  ['AVG(weight)', 'RETURN avg(e.weight)', 'select avg(weight) from e'],
  ['MIN and MAX(weight)', 'RETURN min(e.weight), max(e.weight)', 'select min(weight), max(weight) from e'],
  ['MIN and MAX(event_ts)', 'RETURN min(e.event_ts), max(e.event_ts)', 'select min(ts), max(ts) from e'],
  ['COUNT by kind', 'RETURN e.kind, count(*)', 'select kind, count(*) from e group by kind'],
  ['SUM(weight) by kind', 'RETURN e.kind, sum(e.weight)', 'select kind, sum(weight) from e group by kind'],
  ['COUNT where score > s', 'WHERE e.score > $s RETURN count(*)', 'select count(*) from e where score > $s', score],
  [
    'SUM(weight) where score > s',
    'WHERE e.score > $s RETURN sum(e.weight)',
    'select sum(weight) from e where score > $s',
    score,
  ],
  [
    'COUNT where kind = k',
    'WHERE e.kind = $k RETURN count(*)',
    'select count(*) from e where kind = $k',
    (i) => ({ k: KINDS[i % KINDS.length]! }),
  ],
];

/** Returns aggregates of the whole table. SQLite is left out. */
export function scanKinds(share: number): StatementKind[] {
  const count = Math.max(2, Math.round(20 * share));
  return WHOLE.map(([name, ours, sql, parameters = () => ({})]) => ({
    name: `whole table, ${name}`,
    text: `MATCH (e:Post) ${ours}`,
    duckdb: [sql],
    sqlite: [],
    queries: Array.from({ length: count }, (_, i) => parameters(i)),
    target: SCAN,
  }));
}
