import { describe, expect, it } from 'vitest';
import { isoTime } from '../../src/iso-time.ts';
import type { ColumnKind, RowBatch, SqlRow, SqlValue } from '../../src/virtual/backend.ts';
import { batchOf, WireBuilder } from '../../src/virtual/backends/duckdb-columns.ts';
import type { RowReading } from '../../src/virtual/compile/compile.ts';
import { type HydratedBatch, type HydratedEdge, hydrate } from '../../src/virtual/hydrate/hydrate.ts';
import type { EdgeForm } from '../../src/virtual/hydrate/json.ts';
import { fc } from '../support/property.ts';

const RUNS = 1000;
const PROVENANCE = { graph: 'g "1"', spec_version: 2, captured_at: 1_700_000_000 };

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme-ascii' }),
  fc.constantFrom('', '"', '\\', '\u0000', '\ud800', 'é\n', 'x'.repeat(100), `${'y'.repeat(60)}"`),
);
const integer = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -1, 9, 10, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2n ** 60n, -(2n ** 63n)),
);
const VALUES: Partial<Record<ColumnKind, fc.Arbitrary<SqlValue>>> = {
  integer,
  text,
  real: fc
    .oneof(fc.double(), fc.constantFrom(-0, Number.NaN, Infinity))
    .map((value) => (Number.isFinite(value) ? value : String(value))),
  boolean: fc.boolean(),
  decimal: fc.constantFrom('1.50', '-0.10', '123456789012345678901234567890.5', '7'),
  timestamp: fc.integer().map((second) => second * 1_000_000 + 5),
  date: fc.integer({ min: -100_000, max: 100_000 }),
  other: text,
};
const KINDS = Object.keys(VALUES) as ColumnKind[];
const name = fc.oneof(fc.constantFrom('1', '0', '__proto__', 'a"b', 'toString', 'é'), fc.string({ maxLength: 5 }));

/** Random descriptions of columns, and rows with values for these columns. */
const worlds = fc
  .record({
    shape: fc.constantFrom('row' as const, 'group' as const),
    members: fc.array(fc.record({ name, role: text, nodeLabel: text, kind: fc.constantFrom(...KINDS) }), {
      minLength: 1,
      maxLength: 3,
    }),
    properties: fc.uniqueArray(fc.record({ name, kind: fc.constantFrom(...KINDS) }), {
      maxLength: 4,
      selector: (property) => property.name,
    }),
    edgeLabel: text,
  })
  .chain(({ members, ...rest }) => {
    const reading: RowReading = { ...rest, members: rest.shape === 'row' ? members : members.slice(0, 1) };
    const nullable = (kind: ColumnKind) => fc.option(VALUES[kind]!, { nil: null, freq: 4 });
    const properties = reading.properties.map(({ kind }) => nullable(kind));
    const time = fc.option(fc.integer(), { nil: null, freq: 8 });
    const list = fc.option(fc.array(nullable(reading.members[0]!.kind).filter(isItem), { maxLength: 4 }), {
      nil: null,
    });
    const columns: fc.Arbitrary<SqlValue>[] =
      reading.shape === 'row'
        ? [time, ...reading.members.map(({ kind }) => nullable(kind)), ...properties]
        : [time, ...properties, list as fc.Arbitrary<SqlValue>];
    return fc.record({ reading: fc.constant(reading), rows: fc.array(fc.tuple(...columns), { maxLength: 8 }) });
  });

/** Returns whether a list may contain the value. */
function isItem(value: SqlValue): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

/** Converts rows to the form in which they arrive from the DuckDB process. */
function sent(rows: readonly SqlRow[], columns: number): RowBatch {
  const builders = Array.from({ length: columns }, () => new WireBuilder(2));
  for (const row of rows) for (const [column, value] of row.entries()) builders[column]!.add(value);
  return batchOf(structuredClone({ length: rows.length, columns: builders.map((builder) => builder.take()) }));
}

async function hydrated(batch: RowBatch, reading: RowReading): Promise<HydratedBatch> {
  async function* batches() {
    yield batch;
  }
  for await (const found of hydrate(batches(), reading, PROVENANCE)) return found;
  throw new Error('no batch');
}

function edgesOf(batch: HydratedBatch): HydratedEdge[] {
  return [...batch.parts()].flat();
}

/** Returns the pieces as one text. A piece is copied because the next one reuses its memory. */
function textOf(batch: HydratedBatch, form: EdgeForm): string {
  return Buffer.concat(Array.from(batch.json(form), ({ bytes }) => Buffer.from(bytes))).toString();
}

/**
 * Returns the edge with its time fields as texts. A property that has the name of a time field is
 * unchanged.
 */
function isoEdge(edge: HydratedEdge): object {
  return {
    ...edge,
    event_ts: isoTime(edge.event_ts),
    provenance: { ...edge.provenance, captured_at: isoTime(edge.provenance.captured_at) },
  };
}

describe('the JSON of a batch', () => {
  it('equals the JSON of its edges byte for byte, for batches of rows and of columns', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ({ reading, rows }) => {
        const width = 1 + reading.members.length + reading.properties.length;
        for (const batch of [rows, sent(rows, width)]) {
          const found = await hydrated(batch, reading);
          const lines = edgesOf(found).map((edge) => `<${JSON.stringify(edge)}>\n`);
          expect(textOf(found, { before: '<', after: '>\n' })).toBe(lines.join(''));
          const withIso = edgesOf(found).map((edge) => JSON.stringify(isoEdge(edge)));
          expect(textOf(found, { before: '', after: '', isoTimes: true })).toBe(withIso.join(''));
          expect([found.count, found.skipped]).toEqual([lines.length, rows.length - lines.length]);
        }
      }),
      { numRuns: RUNS, seed: 11 },
    );
  });

  it('is correct when the buffer is reused, even after a batch that failed', async () => {
    const reading: RowReading = {
      edgeLabel: 'E',
      shape: 'row',
      members: [{ name: 'm', role: 'r', nodeLabel: 'N', kind: 'integer' }],
      properties: [],
    };
    async function* batches(): AsyncGenerator<SqlRow[]> {
      yield [[1, 2]];
      yield [
        [1, 2],
        ['no time', 3],
      ];
      yield [[4, 5]];
    }
    const found: string[] = [];
    for await (const batch of hydrate(batches(), reading, PROVENANCE)) {
      try {
        found.push(JSON.parse(textOf(batch, { before: '', after: '' })).event_ts);
      } catch (error) {
        found.push((error as { code: string }).code);
      }
    }
    expect(found).toEqual([1, 'hydration_failed', 4]);
  });
});

describe('rows from the DuckDB process', () => {
  it('arrive unchanged, even if a column mixes numbers, texts, nulls and lists', () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.double({ noNaN: true }),
      fc.string({ unit: 'binary' }),
      fc.bigInt(),
      fc.boolean(),
      fc.constant(['a', 1, null] as SqlValue),
    );
    const column = fc.oneof(
      fc.array(value),
      fc.array(fc.option(fc.double({ noNaN: true }))),
      fc.array(fc.option(fc.string({ unit: 'binary' }))),
    );
    const builder = new WireBuilder(2);
    fc.assert(
      fc.property(column, fc.array(fc.integer()), (values, numbers) => {
        for (const one of values) builder.add(one);
        builder.addNumbers(numbers);
        const wire = structuredClone({ length: values.length + numbers.length, columns: [builder.take()] });
        const batch = batchOf(wire);
        expect([...batch].map(([one]) => one)).toEqual([...values, ...numbers]);
      }),
      { numRuns: RUNS, seed: 12 },
    );
  });

  it('is given in pieces, which may end inside of a large group', async () => {
    const reading: RowReading = {
      edgeLabel: 'E',
      shape: 'group',
      members: [{ name: 'm', role: 'r', nodeLabel: 'N', kind: 'integer' }],
      properties: [],
    };
    const list = (length: number) => Array.from({ length }, (_, index) => index);
    const rows: SqlRow[] = [[1, list(10_000)], ...list(4000).map((time): SqlRow => [time, [time, 7]]), [2, list(3)]];
    const batch = await hydrated(rows, reading);
    const pieces = Array.from(batch.json({ before: '', after: '\n' }), ({ count, bytes }) => ({
      count,
      text: Buffer.from(bytes).toString(),
    }));
    expect(pieces.slice(0, 2).map(({ count }) => count)).toEqual([0, 0]);
    expect(pieces.reduce((sum, { count }) => sum + count, 0)).toBe(rows.length);
    for (const { count, text } of pieces) expect(text.split('\n').length - 1).toBe(count);
    const edges = edgesOf(batch);
    expect(pieces.map(({ text }) => text).join('')).toBe(edges.map((edge) => `${JSON.stringify(edge)}\n`).join(''));
    const parts = [...batch.parts()];
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts.slice(1)) expect(part.length).toBeLessThan(1000);
  });
});
