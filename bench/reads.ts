// Times reads as JSON text from both stores: windows, lookups of nodes, and edges that contain two
// nodes. Also measures the bytes on disk.

import { openDatabase } from 'hedgerow';
import { drawCoMembers, drawNodes, drawPairs, drawWindows, type Edge, type Window } from './dataset.ts';
import { alternate, sink } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow, type Target } from './row.ts';
import { type SqliteForm, SqliteReader } from './sqlite-reads.ts';
import { type Hedgerow, openSqlite } from './stores.ts';
import { diskBytes } from './workspace.ts';

type Table = ReturnType<Hedgerow['table']>;
type Request = Omit<Parameters<Table['scan']>[0], 'format'>;

/** One kind of query, in the form each side takes it. */
interface Race<Query> {
  name: string;
  /** Unit of the rate. */
  unit: 'rows/s' | 'pairs/s';
  queries: readonly Query[];
  request: (query: Query) => Request;
  /** SQLite statements that return the same rows; the fastest is the peer. */
  forms: readonly SqliteForm[];
  parameters: (query: Query) => readonly number[];
  target: Target;
}

const BY_NODE: SqliteForm = 'from m join e on e.id = m.eid where m.node = ?';
/** Three ways to write the query. Which one is fastest depends on the degrees of the nodes. */
const BY_PAIR: readonly SqliteForm[] = [
  'from e where e.id in (select eid from m where node = ? intersect select eid from m where node = ?)',
  'from m a join m b on b.eid = a.eid and b.node = ? join e on e.id = a.eid where a.node = ?',
  'from m a join e on e.id = a.eid where a.node = ? and exists (select 1 from m b where b.node = ? and b.eid = a.eid)',
];

export async function runReads({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow[]> {
  const dir = await workspace.compacted(dataset.edges);
  const file = workspace.sqlite(dataset.edges);
  const count = dataset.edges.length;
  const queries = drawQueries(dataset.edges, tiny ? 0.02 : 1);
  dataset.release();
  const rounds = tiny ? 1 : 3;
  const byPair = {
    request: (pair: [number, number]) => ({ nodes: pair }),
    forms: BY_PAIR,
    parameters: (pair: [number, number]) => pair,
    unit: 'pairs/s' as const,
    target: { ratioAtLeast: 20 },
  };

  const database = await openDatabase({ dir });
  const reader = new SqliteReader(openSqlite(file));
  const rows: BenchRow[] = [];
  try {
    const table = database.table();
    rows.push(
      ...(await race<Window>(table, reader, rounds, {
        name: 'windows of 0.1 % of the span',
        unit: 'rows/s',
        queries: queries.windows,
        request: (window) => window,
        forms: ['from e where e.ts between ? and ?'],
        parameters: ({ startTs, endTs }) => [startTs, endTs],
        target: { ratioAtLeast: 10 },
      })),
      ...(await race<number>(table, reader, rounds, {
        name: 'lookups of nodes drawn by degree',
        unit: 'rows/s',
        queries: queries.nodes,
        request: (node) => ({ nodes: [node] }),
        forms: [BY_NODE],
        parameters: (node) => [node],
        target: { ratioAtLeast: 10 },
      })),
      ...(await race<[number, number]>(table, reader, rounds, {
        ...byPair,
        name: 'edges of both, pairs from random edges',
        queries: queries.coMembers,
      })),
      ...(await race<[number, number]>(table, reader, rounds, {
        ...byPair,
        name: 'edges of both, nodes drawn by degree',
        queries: queries.pairs,
      })),
    );
  } finally {
    await database.close();
    reader.close();
  }
  return [...rows, ...bytesAnEdge(dir, file, count)];
}

function drawQueries(edges: readonly Edge[], share: number) {
  return {
    windows: drawWindows(edges, 500 * share, 0.001, 11),
    nodes: drawNodes(edges, 1000 * share, 12),
    coMembers: drawCoMembers(edges, 5000 * share, 13),
    pairs: drawPairs(edges, 5000 * share, 14),
  };
}

/**
 * Checks a few answers in full, finds the fastest form for SQLite, and races all queries. Also
 * races a tenth of the queries against the usual way to read from SQLite.
 */
async function race<Query>(
  table: Table,
  reader: SqliteReader,
  rounds: number,
  { name, unit, queries, request, forms, parameters, target }: Race<Query>,
): Promise<BenchRow[]> {
  for (const query of queries.slice(0, 10)) {
    const { text } = readText(table, request(query));
    compareRows(`${name} ${JSON.stringify(query)}`, text, reader.usual(forms[0]!, parameters(query)));
  }
  const pilot = queries.slice(0, Math.ceil(queries.length / 25));
  const inSql = fastest(forms, (form) => pilot.forEach((query) => void reader.json(form, parameters(query))));
  const usual = fastest(forms, (form) => pilot.forEach((query) => void reader.usual(form, parameters(query))));
  const sqlIsFaster = inSql.ms <= usual.ms;

  const ours = (query: Query) => readText(table, request(query)).rows;
  const bySql = await raceQueries(rounds, queries, ours, (query) => reader.json(inSql.form, parameters(query)).rows);
  const tenth = queries.slice(0, Math.ceil(queries.length / 10));
  const byUsual = await raceQueries(rounds, tenth, ours, (query) => reader.usual(usual.form, parameters(query)).rows);
  const row = (label: string, race: RaceResult, isPeer: boolean) => {
    const counted = unit === 'rows/s' ? race.rows : race.queries;
    return benchRow({
      name: `${name}, ${label}`,
      unit,
      ours: (counted / race.oursMs) * 1000,
      peer: (counted / race.peerMs) * 1000,
      ...(isPeer ? { target } : {}),
    });
  };
  return [
    row('SQLite makes the JSON', bySql, sqlIsFaster),
    row('SQLite .all() + JSON.stringify', byUsual, !sqlIsFaster),
  ];
}

/** Returns one answer as JSON text: the concatenated slices of a scan. */
function readText(table: Table, request: Request): { text: Uint8Array; rows: number } {
  const scan = table.scan({ ...request, format: 'json' });
  const slices: Uint8Array[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice);
  const text = slices.length === 1 ? slices[0]! : Buffer.concat(slices);
  sink(text.length);
  return { text, rows: scan.rows };
}

/** Throws unless both answers contain the same edges in the same order. */
function compareRows(what: string, ours: Uint8Array, peer: { text: string }): void {
  const facts = (row: Record<string, unknown>) => {
    const members = typeof row.members === 'string' ? row.members : JSON.stringify(row.members);
    return `${row.id} ${row.event_ts} ${members} ${row.weight}`;
  };
  const left = (JSON.parse(`[${Buffer.from(ours).toString()}]`) as Record<string, unknown>[]).map(facts);
  const right = (JSON.parse(peer.text) as Record<string, unknown>[]).map(facts);
  if (left.join('\n') !== right.join('\n'))
    throw new Error(`${what}: the answers differ, ${left.length} and ${right.length} rows`);
}

/** Calls `run` twice with each form. Returns the fastest form and its time. */
function fastest(forms: readonly SqliteForm[], run: (form: SqliteForm) => void): { form: SqliteForm; ms: number } {
  let best = { form: forms[0]!, ms: Infinity };
  for (const form of [...forms, ...forms]) {
    const start = performance.now();
    run(form);
    const ms = performance.now() - start;
    if (ms < best.ms) best = { form, ms };
  }
  return best;
}

interface RaceResult {
  oursMs: number;
  peerMs: number;
  rows: number;
  queries: number;
}

const SLICES = 10;

/**
 * Runs all queries on both sides, which alternate after every tenth of them. Returns sums of the
 * medians of the rounds. Throws if row counts differ.
 */
async function raceQueries<Query>(
  rounds: number,
  queries: readonly Query[],
  ours: (query: Query) => number,
  peer: (query: Query) => number,
): Promise<RaceResult> {
  const counts = queries.map((query) => ours(query));
  const size = Math.ceil(queries.length / SLICES);
  const oursMs: number[] = [];
  const peerMs: number[] = [];
  for (let from = 0; from < queries.length; from += size) {
    const side = (run: (query: Query) => number, who: string) => () => {
      const start = performance.now();
      for (let i = from; i < Math.min(queries.length, from + size); i++) {
        const rows = run(queries[i]!);
        if (rows !== counts[i])
          throw new Error(`${who} gives ${rows} rows, not ${counts[i]}, to ${JSON.stringify(queries[i])}`);
      }
      return performance.now() - start;
    };
    const [a, b] = await alternate(rounds, [side(ours, 'Hedgerow'), side(peer, 'SQLite')]);
    oursMs.push(a!);
    peerMs.push(b!);
  }
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return { oursMs: sum(oursMs), peerMs: sum(peerMs), rows: sum(counts), queries: queries.length };
}

function bytesAnEdge(dir: string, file: string, edges: number): BenchRow[] {
  const peer = diskBytes(file) / edges;
  const target: Target = { ratioAtMost: 1 / 3 };
  const data = (diskBytes(dir) - diskBytes(`${dir}/log`)) / edges;
  return [
    benchRow({ name: 'disk after compaction, segments and manifest', unit: 'bytes/edge', ours: data, peer, target }),
    benchRow({
      name: 'disk after compaction, closed directory with its log',
      unit: 'bytes/edge',
      ours: diskBytes(dir) / edges,
      peer,
      target,
    }),
  ];
}
