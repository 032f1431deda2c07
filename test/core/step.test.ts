// Compares `hg_segment_step`, in every build, with a naive scan. One call seeks, lists rows,
// applies tombstones and writes text. The result must be the same however many rows a call returns.

import { describe, expect, it } from 'vitest';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { COLUMNS, planOf, randomTable, rowText } from './support/model.ts';
import { ascending, type Random, randomFrom } from './support/random.ts';
import { type BuiltSegment, buildSegment } from './support/segments.ts';

const BUCKET = 40;
const END = Number.POSITIVE_INFINITY;
const STATE = { more: 0, end: 1, stop: 2 } as const;

const edges = randomTable(randomFrom(21), {
  rows: 600,
  time: (random) => random.below(400) - 100,
  id: (_, row) => row,
  node: (random) => random.below(25),
  members: (random) => 1 + random.below(4),
  columns: COLUMNS,
  sparsity: 3,
});

interface Request {
  low: [number, number];
  endTime: number;
  stop: [number, number];
  lsn: number;
  limit: number;
  nodes: number[];
  dead: number[];
  deaths: number[];
  textBytes: number;
}

function expectedRows(request: Request): number[] {
  const gone = new Set(request.dead.filter((_, i) => request.deaths[i]! <= request.lsn));
  return edges.flatMap((edge, row) => {
    const after = edge.time > request.low[0] || (edge.time === request.low[0] && edge.id >= request.low[1]);
    const before = edge.time < request.stop[0] || (edge.time === request.stop[0] && edge.id < request.stop[1]);
    const holds = request.nodes.every((node) => edge.members.includes(node));
    return after && before && edge.time <= request.endTime && holds && !gone.has(row) ? [row] : [];
  });
}

function randomRequest(random: Random): Request {
  const key = (): [number, number] => {
    const edge = edges[random.below(edges.length)]!;
    return [edge.time + random.below(3) - 1, random.below(2) === 0 ? edge.id : -END];
  };
  const dead = ascending(random, random.below(60), edges.length);
  return {
    low: random.below(3) === 0 ? [-END, -END] : key(),
    endTime: random.below(3) === 0 ? END : key()[0],
    stop: random.below(2) === 0 ? [END, 0] : key(),
    lsn: random.below(50),
    limit: random.below(2) === 0 ? 1e9 : 1 + random.below(20),
    nodes: Array.from({ length: random.below(3) }, () => random.below(26)),
    dead,
    deaths: dead.map(() => random.below(50)),
    textBytes: random.below(2) === 0 ? 65_536 : 1,
  };
}

/**
 * Scans to the end in steps. Each step begins at the key that the previous one reported. Returns
 * the text, and checks the other results of each step against `rows`.
 */
function scan(core: Instance, built: BuiltSegment, request: Request, rows: readonly number[]): string {
  const block = core.alloc(192);
  const key = core.alloc(16);
  const rowList = core.alloc(8192 * 4 + 64);
  let textBytes = request.textBytes;
  let textAt = core.alloc(textBytes);
  const [nodes, dead, deaths] = [
    core.putNumbers([...request.nodes, 0]),
    core.putWords([...request.dead, 0]),
    core.putNumbers([...request.deaths, 0]),
  ];
  const plan = core.put(planOf(COLUMNS).bytes);
  let low = request.low;
  let given = 0;
  let text = '';
  for (;;) {
    const counts = [request.lsn, request.limit, given === 0 ? 0 : 1, request.nodes.length, request.dead.length];
    const places = [nodes, dead, deaths, plan, rowList, textAt, textBytes];
    core.core.memory.numbers.set([...low, request.endTime, ...request.stop, ...counts, ...places], block / 8);
    const written = core.x.hg_segment_step(built.handle, block);
    if (written === STATUS.tooSmall) {
      textBytes = core.needed;
      textAt = core.alloc(textBytes);
      continue;
    }
    expect(written).toBeGreaterThanOrEqual(0);
    const [n, firstTime, lastTime, lastId, buckets, next, state] = core.numbers(block + 136, 7) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const step = rows.slice(given, given + n);
    if (n > 0) {
      const last = edges[step.at(-1)!]!;
      expect([firstTime, lastTime, lastId]).toEqual([edges[step[0]!]!.time, last.time, last.id]);
      expect(buckets).toBe(new Set(step.map((row) => Math.floor(edges[row]!.time / BUCKET))).size);
      expect(n).toBeLessThanOrEqual(request.limit);
    }
    text += core.text(textAt, written);
    given += n;
    if (state !== STATE.more) {
      const behind = edges.some(
        (edge) =>
          edge.time <= request.endTime &&
          (edge.time > request.stop[0] || (edge.time === request.stop[0] && edge.id >= request.stop[1])),
      );
      expect(state).toBe(behind ? STATE.stop : STATE.end);
      return text;
    }
    core.x.hg_segment_key(built.handle, next, key);
    low = core.numbers(key, 2) as [number, number];
  }
}

describe.each(BUILDS)('hg_segment_step, %s build', (build) => {
  it('returns the rows of any request, whatever the limit and the size of the text region', () => {
    const core = new Instance(build);
    const random = randomFrom(22);
    const built = buildSegment(core, edges, COLUMNS, BUCKET);
    for (let i = 0; i < 80; i++) {
      const request = randomRequest(random);
      const rows = expectedRows(request);
      expect(scan(core, built, request, rows)).toBe(rows.map((row) => rowText(edges[row]!, COLUMNS)).join(','));
    }
  });
});
