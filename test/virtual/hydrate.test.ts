import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import type { ColumnKind, SqlRow, SqlValue } from '../../src/virtual/backend.ts';
import type { RowReading } from '../../src/virtual/compile/compile.ts';
import { listIds } from '../../src/virtual/hydrate/group-ids.ts';
import { type HydratedEdge, hydrate } from '../../src/virtual/hydrate/hydrate.ts';
import { idText, propertyOf, secondOf } from '../../src/virtual/hydrate/values.ts';

const PROVENANCE = { graph: 'g', spec_version: 3, captured_at: 1_700_000_000 };

async function read(reading: RowReading, rows: SqlRow[]): Promise<{ edges: HydratedEdge[]; skipped: number }> {
  const edges: HydratedEdge[] = [];
  let skipped = 0;
  for await (const batch of hydrate(batches(rows), reading, PROVENANCE)) {
    for (const part of batch.parts()) edges.push(...part);
    skipped += batch.skipped;
  }
  return { edges, skipped };
}

async function* batches(rows: SqlRow[]): AsyncGenerator<SqlRow[]> {
  for (let at = 0; at < rows.length; at += 2) yield rows.slice(at, at + 2);
}

const ROWS: RowReading = {
  edgeLabel: 'Transfer',
  shape: 'row',
  members: [
    { name: 'src', role: 'source', nodeLabel: 'Account', kind: 'integer' },
    { name: 'via', role: 'broker', nodeLabel: 'BrokerHouse', kind: 'text' },
  ],
  properties: [
    { name: 'amount', kind: 'real' },
    { name: '__proto__', kind: 'text' },
  ],
};

describe('rows', () => {
  it('become edges with members, time, properties and provenance', async () => {
    expect(await read(ROWS, [[5, 7n, 'x:Y', 1.5, 'p']])).toEqual({
      edges: [
        {
          edge_label: 'Transfer',
          members: [
            { vertex_local_id: 'account:7', role: 'source', name: 'src' },
            { vertex_local_id: 'brokerhouse:x:Y', role: 'broker', name: 'via' },
          ],
          event_ts: 5,
          properties: JSON.parse('{"amount": 1.5, "__proto__": "p"}'),
          provenance: PROVENANCE,
        },
      ],
      skipped: 0,
    });
  });

  it('become edges without the null members, and are skipped if they have no member or no time', async () => {
    const { edges, skipped } = await read(ROWS, [
      [1, null, 'a', null, null],
      [2, null, null, 1, null],
      [null, 1, 'b', 1, null],
      [-3n, 2, null, Number.NaN, null],
    ]);
    expect(edges.map(({ members }) => members.map((member) => member.vertex_local_id))).toEqual([
      ['brokerhouse:a'],
      ['account:2'],
    ]);
    expect(edges.map(({ event_ts }) => event_ts)).toEqual([1, -3]);
    expect(edges[1]!.properties.amount).toBeNull();
    expect(skipped).toBe(2);
  });

  it('become edges with distinct members in ascending order if they are groups', async () => {
    const reading: RowReading = {
      edgeLabel: 'Meeting',
      shape: 'group',
      members: [{ name: 'guest', role: 'guest', nodeLabel: 'Person', kind: 'integer' }],
      properties: [{ name: 'room', kind: 'text' }],
    };
    const { edges, skipped } = await read(reading, [
      [9, 'A', ['10', '9', '-1', '9', '170141183460469231731687303715884105727']],
      [9, 'B', null],
      [9, 'C', []],
    ]);
    expect(edges).toHaveLength(1);
    expect(edges[0]!.members.map((member) => member.vertex_local_id)).toEqual([
      'person:-1',
      'person:9',
      'person:10',
      'person:170141183460469231731687303715884105727',
    ]);
    expect(edges[0]!.properties).toEqual({ room: 'A' });
    expect(skipped).toBe(2);
  });

  it('are no longer fetched when the reader leaves the loop', async () => {
    let closed = false;
    const rows = (async function* (): AsyncGenerator<SqlRow[]> {
      try {
        while (true) yield [[1, 1, null, 1, null]];
      } finally {
        closed = true;
      }
    })();
    for await (const { count } of hydrate(rows, ROWS, PROVENANCE)) if (count > 0) break;
    expect(closed).toBe(true);
  });

  it('cause an error with status 500 if their time is not a whole number of seconds', async () => {
    for (const time of ['2024', 1.5, true, 2n ** 53n, Number.NaN, 2 ** 53, ['1']] as SqlValue[]) {
      const failed = await read(ROWS, [[time, 1, null, 1, null]]).catch((error) => error);
      expect(failed).toBeInstanceOf(HedgerowError);
      expect(failed.code).toBe('hydration_failed');
      expect(failed.status).toBe(500);
    }
    expect(() => secondOf('2024', 'X')).toThrow(
      'A row of X has the time "2024", which is not a whole number of seconds',
    );
  });
});

describe('a value', () => {
  it.each<[ColumnKind, SqlValue, string | undefined]>([
    ['integer', 0, '0'],
    ['integer', 9_007_199_254_740_993n, '9007199254740993'],
    ['decimal', '1.50', '1.5'],
    ['decimal', '100', '100'],
    ['decimal', '-0.00', '-0'],
    ['real', 1e21, '1e+21'],
    ['real', -0, '0'],
    ['text', '', ''],
    ['boolean', false, 'false'],
    ['timestamp', 0, '1970-01-01T00:00:00Z'],
    ['timestamptz', -1n, '1969-12-31T23:59:59.999999Z'],
    ['timestamp', 1_717_164_000_500_000n, '2024-05-31T14:00:00.5Z'],
    ['timestamp', 9_223_372_036_854_775_000n, '9223372036854775000'],
    ['date', 19_874, '2024-05-31'],
    ['date', -800_000n, '-000221-09-04'],
    ['time', '10:00:00', '10:00:00'],
    ['uuid', '7d444840-9dc0-11d1-b245-5ffdce74fad2', '7d444840-9dc0-11d1-b245-5ffdce74fad2'],
    ['text', null, undefined],
  ])('becomes an id: kind %s, value %s', (kind, value, expected) => {
    expect(idText(value, kind, 'm')).toBe(expected);
  });

  it.each<[ColumnKind, SqlValue, unknown]>([
    ['integer', 5n, 5],
    ['integer', -9_007_199_254_740_993n, '-9007199254740993'],
    ['decimal', '1.50', 1.5],
    ['decimal', '0.1', 0.1],
    ['decimal', '12345678901234567890.5', '12345678901234567890.5'],
    ['real', Number.POSITIVE_INFINITY, null],
    ['real', 2.5, 2.5],
    ['boolean', true, true],
    ['date', 0n, '1970-01-01'],
    ['other', '[1, 2]', '[1, 2]'],
    ['text', null, null],
  ])('becomes a property that JSON can represent: kind %s, value %s', (kind, value, expected) => {
    const found = propertyOf(value, kind, 'p');
    expect(found).toBe(expected);
    expect(JSON.parse(JSON.stringify(found))).toBe(expected);
  });

  it('is sorted by the rules of its kind if it is in a list', () => {
    expect(listIds(['b', 'a', 'é', 'Z'], 'text', 'm')).toEqual(['Z', 'a', 'b', 'é']);
    expect(listIds([2, Number.NaN, -1, 0.5], 'real', 'm')).toEqual(['-1', '0.5', '2', 'NaN']);
    expect(listIds(['10.00', '9.50', '9.5'], 'decimal', 'm')).toEqual(['9.5', '10']);
    expect(listIds(['1000000', '-1000000'], 'timestamp', 'm')).toEqual([
      '1969-12-31T23:59:59Z',
      '1970-01-01T00:00:01Z',
    ]);
  });

  it('causes an error if it is not of the kind of its column', () => {
    for (const wrong of [
      () => idText('x', 'integer', 'm'),
      () => idText(1.5, 'date', 'm'),
      () => idText(5, 'decimal', 'm'),
      () => idText(['a'], 'text', 'm'),
      () => listIds('a', 'text', 'm'),
      () => listIds(['x'], 'integer', 'm'),
    ])
      expect(wrong).toThrow(/^The backend gave/);
  });
});
