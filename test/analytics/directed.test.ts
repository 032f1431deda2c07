// Compares the directed measures with textbook forms on random hypergraphs whose members have
// roles. HEDGEROW_HYPERGRAPHS sets the number of hypergraphs; the long form uses 1,000.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Analytics } from '../../src/analytics/index.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { type Answer as HttpAnswer, send, startServer, type TestServer } from '../http/support.ts';
import { Random } from '../support/random.ts';
import { InlineThread } from './inline-thread.ts';
import { MeasuredEdges, type PlainEdge } from './run-measure.ts';

const COUNT = Number(process.env.HEDGEROW_HYPERGRAPHS ?? 60);
const DIRECTION = { from: 'tail', to: 'HEAD' };

function randomEdges(seed: number): PlainEdge[] {
  const random = new Random(seed);
  const nodes = 1 + random.below(seed % 5 === 0 ? 14 : 8);
  const largest = 1 + random.below(5);
  return Array.from({ length: 1 + random.below(14) }, (_, index) => {
    const members = [...new Set(Array.from({ length: 1 + random.below(largest) }, () => random.below(nodes) - 2))];
    const list = () => members.filter(() => random.chance(0.45));
    return {
      id: index + 1,
      event_ts: random.below(50),
      members,
      weight: random.chance(0.3) ? null : (1 + random.below(40)) / 8,
      ...(random.chance(0.1) ? {} : { roles: { tail: list(), head: list() } }),
    };
  });
}

type Arcs = Map<number, Map<number, number>>;

/** The definitions, on plain arrays. */
class NaiveDirected {
  readonly edges: PlainEdge[];
  readonly nodes: number[];

  constructor(edges: readonly PlainEdge[]) {
    this.edges = [...edges].sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
    this.nodes = [...new Set(edges.flatMap(({ members }) => members))].sort((a, b) => a - b);
  }

  tails({ roles }: PlainEdge): readonly number[] {
    return roles?.tail ?? [];
  }

  heads({ roles }: PlainEdge): readonly number[] {
    return roles?.head ?? [];
  }

  nodeArcs(s: number): Arcs {
    return this.#arcs(
      this.nodes,
      s,
      (u, v) => this.edges.filter((e) => this.tails(e).includes(u) && this.heads(e).includes(v)).length,
    );
  }

  edgeArcs(s: number): Arcs {
    const byId = new Map(this.edges.map((edge) => [edge.id, edge]));
    const there = this.edges.filter(({ members }) => members.length >= s).map(({ id }) => id);
    return this.#arcs(
      there,
      s,
      (e, f) => this.heads(byId.get(e)!).filter((node) => this.tails(byId.get(f)!).includes(node)).length,
    );
  }

  /** Nodes by their ids, edges by 'e' and their ids: as numbers, edges are 1000 and more. */
  bipartiteArcs(): Arcs {
    const all = [...this.nodes, ...this.edges.map(({ id }) => 1000 + id)];
    const edgeOf = (vertex: number) => this.edges.find(({ id }) => 1000 + id === vertex);
    return this.#arcs(all, 1, (a, b) => {
      const [edge, other] = [edgeOf(a), edgeOf(b)];
      if (edge === undefined && other !== undefined) return this.tails(other).includes(a) ? 1 : 0;
      return edge !== undefined && other === undefined && this.heads(edge).includes(b) ? 1 : 0;
    });
  }

  #arcs(vertices: readonly number[], s: number, count: (a: number, b: number) => number): Arcs {
    return new Map(
      vertices.map((a) => [
        a,
        new Map(vertices.flatMap((b): [number, number][] => (a !== b && count(a, b) >= s ? [[b, count(a, b)]] : []))),
      ]),
    );
  }

  distances(arcs: Arcs): Map<number, Map<number, number>> {
    return new Map(
      [...arcs.keys()].map((source) => {
        const found = new Map([[source, 0]]);
        for (const [vertex, distance] of found)
          for (const next of arcs.get(vertex)!.keys()) if (!found.has(next)) found.set(next, distance + 1);
        return [source, found];
      }),
    );
  }

  closeness(arcs: Arcs): Map<number, number> {
    const n = arcs.size;
    return new Map(
      [...this.distances(arcs)].map(([vertex, found]) => {
        const sum = [...found.values()].reduce((a, b) => a + b, 0);
        const reached = found.size - 1;
        return [vertex, sum === 0 ? 0 : (reached / (n - 1)) * (reached / sum)];
      }),
    );
  }

  /** Counts shortest paths between every ordered pair. */
  betweenness(arcs: Arcs, normalized: boolean): Map<number, number> {
    const distances = this.distances(arcs);
    const paths = new Map([...arcs.keys()].map((source) => [source, this.#paths(arcs, distances.get(source)!)]));
    const n = arcs.size;
    const pairs = (n - 1) * (n - 2);
    const share = (v: number, s: number, t: number): number => {
      const whole = distances.get(s)!.get(t);
      const [first, second] = [distances.get(s)!.get(v), distances.get(v)!.get(t)];
      if (whole === undefined || first === undefined || second === undefined || first + second !== whole) return 0;
      return (paths.get(s)!.get(v)! * paths.get(v)!.get(t)!) / paths.get(s)!.get(t)!;
    };
    return new Map(
      [...arcs.keys()].map((v) => {
        let sum = 0;
        for (const s of arcs.keys())
          for (const t of arcs.keys()) if (s !== t && s !== v && t !== v) sum += share(v, s, t);
        return [v, normalized ? (pairs <= 0 ? 0 : sum / pairs) : sum];
      }),
    );
  }

  #paths(arcs: Arcs, distances: Map<number, number>): Map<number, number> {
    const counts = new Map<number, number>();
    for (const [vertex, distance] of [...distances].sort((a, b) => a[1] - b[1])) {
      let count = distance === 0 ? 1 : 0;
      for (const [before, known] of counts)
        if (distances.get(before) === distance - 1 && arcs.get(before)!.has(vertex)) count += known;
      counts.set(vertex, count);
    }
    return counts;
  }

  degrees(weighted: boolean, size?: number): Map<number, number> {
    const own = this.edges.filter(({ members }) => size === undefined || members.length === size);
    const weight = (edge: PlainEdge) => (weighted ? (edge.weight ?? 1) : 1);
    return new Map(
      this.nodes.map((node) => [
        node,
        own.filter((e) => this.tails(e).includes(node)).reduce((sum, e) => sum + weight(e), 0),
      ]),
    );
  }

  /** Solves the equations of the walk by elimination. */
  pagerank(walk: string, weighted: boolean, alpha: number): Map<number, number> {
    const n = this.nodes.length;
    const matrix = this.nodes.map((u) => this.#moves(u, walk, weighted));
    // x (I - alpha P) = (1 - alpha) / n, in columns.
    const rows = this.nodes.map((_, v) => [
      ...this.nodes.map((__, u) => (u === v ? 1 : 0) - alpha * matrix[u]![v]!),
      (1 - alpha) / n,
    ]);
    for (let i = 0; i < n; i++) {
      const pivot = rows
        .slice(i)
        .reduce((best, row, at) => (Math.abs(row[i]!) > Math.abs(rows[best]![i]!) ? at + i : best), i);
      [rows[i], rows[pivot]] = [rows[pivot]!, rows[i]!];
      for (let j = 0; j < n; j++) {
        if (j === i) continue;
        const factor = rows[j]![i]! / rows[i]![i]!;
        rows[j] = rows[j]!.map((value, k) => value - factor * rows[i]![k]!);
      }
    }
    return new Map(this.nodes.map((node, i) => [node, rows[i]![n]! / rows[i]![i]!]));
  }

  #moves(u: number, walk: string, weighted: boolean): number[] {
    const weight = (edge: PlainEdge) => (weighted ? (edge.weight ?? 1) : 1);
    const own = this.edges.filter((e) => this.tails(e).includes(u));
    let row: number[];
    if (walk === 'hyperedge' || walk === 'nonlazy') {
      const choices = (e: PlainEdge) => this.heads(e).filter((v) => walk === 'hyperedge' || v !== u);
      const usable = own.filter((e) => choices(e).length > 0);
      const total = usable.reduce((sum, e) => sum + weight(e), 0);
      row = this.nodes.map((v) =>
        usable.reduce((sum, e) => sum + (choices(e).includes(v) ? weight(e) / total / choices(e).length : 0), 0),
      );
    } else {
      const shares = this.nodes.map((v) =>
        v === u ? 0 : own.filter((e) => this.heads(e).includes(v)).reduce((sum, e) => sum + weight(e), 0),
      );
      const taken = walk === 'clique' ? shares.map((share) => (share > 0 ? 1 : 0)) : shares;
      const total = taken.reduce((sum, share) => sum + share, 0);
      row = taken.map((share) => (total === 0 ? 0 : share / total));
    }
    return row.some((share) => share > 0) ? row : row.map(() => 1 / row.length);
  }
}

function expectClose(found: unknown, wanted: Map<number, number>, place: string, tolerance = 1e-9): void {
  const values = found as Record<string, number>;
  expect(Object.keys(values).length, place).toBe(wanted.size);
  for (const [key, value] of wanted) {
    const own = values[key]!;
    if (!(Math.abs(own - value) <= tolerance)) expect.fail(`${place}, ${key}: ${own} beside ${value}`);
  }
}

function onlyOf(map: Map<number, number>, keys: readonly number[]): Map<number, number> {
  return new Map(keys.map((key) => [key, map.get(key)!]));
}

describe('directed measures', () => {
  it.each(Array.from({ length: Math.ceil(COUNT / 20) }, (_, block) => block))(
    'agree with their definitions, block %i',
    (block) => {
      for (let seed = block * 20 + 1; seed <= block * 20 + 20; seed++) {
        const edges = randomEdges(seed);
        const naive = new NaiveDirected(edges);
        const measured = new MeasuredEdges(edges, 10, seed % 3 === 0 ? 'debug' : 'release');
        const run = (name: string, params: object = {}) => measured.run(name, { ...DIRECTION, ...params }).result;
        const at = (what: string) => `seed ${seed}, ${what}`;
        expectClose(run('node_degree'), naive.degrees(false), at('node_degree'));
        expectClose(
          run('node_degree', { weighted: true, size: 2 }),
          naive.degrees(true, 2),
          at('node_degree, weighted'),
        );
        for (const s of [1, 2]) {
          expectClose(run('closeness', { s }), naive.closeness(naive.nodeArcs(s)), at(`closeness ${s}`));
          expectClose(
            run('closeness', { s, projection: 'line' }),
            naive.closeness(naive.edgeArcs(s)),
            at(`closeness of edges ${s}`),
          );
          for (const normalized of [true, false]) {
            expectClose(
              run('betweenness', { s, normalized }),
              naive.betweenness(naive.nodeArcs(s), normalized),
              at(`betweenness ${s}`),
            );
            expectClose(
              run('betweenness', { s, normalized, projection: 'line' }),
              naive.betweenness(naive.edgeArcs(s), normalized),
              at(`betweenness of edges ${s}`),
            );
          }
          for (const [on, arcs] of [
            ['nodes', naive.nodeArcs(s)],
            ['edges', naive.edgeArcs(s)],
          ] as const) {
            const wanted = [...naive.distances(arcs)].flatMap(([u, found]) =>
              [...found].flatMap(([v, d]) => (u === v ? [] : [[u, v, d]])),
            );
            wanted.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
            expect(run('s_distance', { s, on }), at(`s_distance ${on} ${s}`)).toEqual(wanted);
            const source = edges[0]![on === 'nodes' ? 'members' : 'id'];
            const from = Array.isArray(source) ? source[0]! : source;
            if (!arcs.has(from)) continue;
            expect(run('s_distance', { s, on, source: from })).toEqual(wanted.filter(([u]) => u === from));
            expect(run('s_distance', { s, on, target: from })).toEqual(wanted.filter(([, v]) => v === from));
            for (const [target, d] of naive.distances(arcs).get(from)!)
              expect(run('s_distance', { s, on, source: from, target })).toBe(d);
          }
        }
        const bipartite = naive.bipartiteArcs();
        expectClose(
          run('closeness', { projection: 'bipartite' }),
          onlyOf(naive.closeness(bipartite), naive.nodes),
          at('closeness, bipartite'),
        );
        expectClose(
          run('betweenness', { projection: 'bipartite' }),
          onlyOf(naive.betweenness(bipartite, true), naive.nodes),
          at('betweenness, bipartite'),
        );
        for (const walk of ['hyperedge', 'nonlazy', 'clique', 'clique_count'])
          for (const weighted of [false, true]) {
            const ranks = run('pagerank', { walk, weighted, alpha: 0.8 });
            expectClose(ranks, naive.pagerank(walk, weighted, 0.8), at(`pagerank ${walk}`), 1e-10);
            const sum = Object.values(ranks as Record<string, number>).reduce((a, b) => a + b, 0);
            expect(Math.abs(sum - 1)).toBeLessThan(1e-10);
          }
      }
    },
  );

  it('treat edges without roles as edges without arcs', () => {
    const measured = new MeasuredEdges([{ id: 1, event_ts: 1, members: [1, 2] }], 10);
    expect(measured.run('closeness', DIRECTION).result).toEqual({ 1: 0, 2: 0 });
    expect(measured.run('pagerank', DIRECTION).result).toEqual({ 1: 0.5, 2: 0.5 });
    expect(measured.run('s_distance', DIRECTION).result).toEqual([]);
  });
});

describe('directed measures over HTTP', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    await post('/v1/tables', { name: 'mail', roles: ['sender', 'recipient'] });
    for (const [n, members] of [
      { sender: [1], recipient: [2, 3] },
      { sender: [2], recipient: [3] },
      { sender: [3], recipient: [4] },
    ].entries())
      await post('/v1/hyperedges', { table: 'mail', event_ts: n, members });
  });
  afterAll(() => server.close());

  const post = (path: string, body: unknown): Promise<HttpAnswer> => send(server, 'POST', path, body);
  const measure = (name: string, params: object, table = 'mail') => post(`/v1/analytics/${table}/${name}`, { params });

  it('read roles in memory and in segments', async () => {
    const ask = async () => [
      (await measure('node_degree', { from: 'sender', to: 'recipient' })).json.result,
      (await measure('s_distance', { from: 'SENDER', to: 'recipient', source: 1, target: 4 })).json.result,
      (await measure('s_distance', { from: 'recipient', to: 'sender', source: 4, target: 1 })).json.result,
      (await measure('s_distance', { from: 'sender', to: 'recipient', source: 4, target: 1 })).json.result,
    ];
    const answers = await ask();
    expect(answers).toEqual([{ 1: 1, 2: 1, 3: 1, 4: 0 }, 2, 2, null]);
    await post('/v1/hyperedges/compact', { table: 'mail' });
    expect(await ask()).toEqual(answers);
    const { json } = await measure('closeness', { from: 'sender', to: 'recipient' });
    expect(json).toMatchObject({ basis: 'events', params: { from: 'sender', to: 'recipient' } });
  });

  it('read roles in a worker thread', async () => {
    const { database } = server;
    await post('/v1/hyperedges', { table: 'mail', event_ts: 9, members: { sender: [4], recipient: [1] } });
    const start = (cacheBytes: number) => new InlineThread(nodeFs, cacheBytes);
    const analytics = new Analytics({ database, smallMembers: 0, startThread: start });
    const run = async (name: string) => (await analytics.run('mail', name, { from: 'sender', to: 'recipient' })).result;
    expect(await run('node_degree')).toEqual({ 1: 1, 2: 1, 3: 1, 4: 1 });
    expect(await run('s_distance')).toContainEqual([4, 3, 2]);
    await analytics.close();
  });

  it.each([
    ['one of them alone', 'closeness', { from: 'sender' }, /to is missing/],
    ['the other one alone', 'pagerank', { to: 'sender' }, /from is missing/],
    [
      'an unknown role',
      'node_degree',
      { from: 'sender', to: 'cc' },
      /Parameter to: "cc" is no role of the table; its roles are sender, recipient/,
    ],
    ['a role that is no text', 'node_degree', { from: 1, to: 'sender' }, /must be the name of a role/],
    ['distinct sets', 'betweenness', { from: 'sender', to: 'recipient', basis: 'distinct' }, /every edge counts/],
    ['a measure that is never directed', 'density', { from: 'sender', to: 'recipient' }, /not a parameter of density/],
  ])('are refused with %s', async (_, name, params, message) => {
    const { status, json } = await measure(name, params);
    expect([status, json.code]).toEqual([400, 'invalid_input']);
    expect(json.detail).toMatch(message);
  });

  it('are refused for a table without roles', async () => {
    const { status, json } = await measure('closeness', { from: 'a', to: 'b' }, 'hyperedges');
    expect(status).toBe(400);
    expect(json.detail).toMatch(/no roles/);
  });
});
