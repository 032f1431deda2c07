// Compares selections, codes (small integers for distinct values) and aggregates over the columns
// of segments, in every build, with naive JavaScript on the same rows.

import { describe, expect, it } from 'vitest';
import { encodeRanges, FIGURES, type NumericRange, ROW_FIELD, WANT } from '../../src/core/index.ts';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { type Column, type Edge, edgeOf, SAFE, type Value } from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';
import { type BuiltSegment, buildSegment } from './support/segments.ts';
import { makeTables, type NamedTable } from './support/shapes.ts';

const OUTSIDE = 4;
const GUARD = Uint8Array.from({ length: 64 }, (_, i) => i + 1);

interface Field {
  readonly name: string;
  readonly kind: number;
  readonly column: Column | undefined;
}

class Bench {
  readonly core: Instance;
  readonly built: BuiltSegment;
  readonly table: NamedTable;
  readonly random: Random;
  readonly rows: number;
  readonly selection: number;

  constructor(core: Instance, table: NamedTable, seed: number) {
    this.core = core;
    this.table = table;
    this.random = randomFrom(seed);
    this.built = buildSegment(core, table.edges, table.columns, table.bucketSeconds);
    this.rows = table.edges.length;
    this.selection = core.alloc(Math.ceil(this.rows / 64) * 8);
  }

  get fields(): Field[] {
    return [
      ...this.table.columns.map((column) => ({ name: column.name, kind: ROW_FIELD.column, column })),
      { name: 'event_ts', kind: ROW_FIELD.eventTs, column: undefined },
      { name: 'id', kind: ROW_FIELD.id, column: undefined },
      { name: 'size', kind: ROW_FIELD.size, column: undefined },
    ];
  }

  valueOf({ kind, column }: Field, edge: Edge): Value {
    if (kind === ROW_FIELD.eventTs) return edge.time;
    if (kind === ROW_FIELD.id) return edge.id;
    if (kind === ROW_FIELD.size) return edge.members.length;
    return edge.properties.has(column!.id) ? edge.properties.get(column!.id)! : column!.byDefault;
  }

  numbersOf(field: Field): (number | null)[] {
    return this.table.edges.map((edge) => this.valueOf(field, edge) as number | null);
  }

  isNumeric({ column }: Field): boolean {
    return column === undefined || column.type === 'REAL' || column.type === 'INTEGER';
  }

  /** Selects rows in one of five ways, and returns the selected rows. */
  select(): number[] {
    const { core, random, rows, selection } = this;
    const [a, b] = [random.below(rows + 1), random.below(rows + 1)];
    const way = random.below(5);
    if (way < 3) {
      const [from, to] = way === 0 ? [0, rows] : way === 1 ? [Math.min(a, b), Math.max(a, b)] : [0, rows];
      core.x.hg_selection_window(selection, rows, from, to);
      if (way < 2) return range(from, to);
      const dead = range(0, rows).filter(() => random.below(3) === 0);
      const deaths = dead.map(() => random.below(10));
      const lsns = core.putNumbers([...deaths, 0]);
      core.x.hg_selection_drop(selection, core.putWords([...dead, 0]), lsns, dead.length, 4);
      const gone = new Set(dead.filter((_, place) => deaths[place]! <= 4));
      return range(0, rows).filter((row) => !gone.has(row));
    }
    const share = way === 3 ? 2 : 40;
    const list = range(0, rows).filter(() => random.below(share) === 0);
    core.x.hg_selection_rows(selection, rows, core.putWords([...list, 0]), list.length);
    return list;
  }

  selected(): number[] {
    const words = this.core.words(this.selection, Math.ceil(this.rows / 64) * 2);
    const found = range(0, words.length * 32).filter((row) => (words[row >> 5]! >>> (row & 31)) & 1);
    expect(this.core.x.hg_selection_count(this.selection, this.rows)).toBe(found.length);
    return found;
  }

  /**
   * Returns the codes of a field and the values they represent, or undefined if the field has no
   * codes. Null, if it occurs, has the code after that of the last value.
   */
  codes(field: { kind: number; column: Column | undefined }): Codes | undefined {
    const { core, rows } = this;
    const at = core.alloc(rows * 2 + 64 + GUARD.length);
    core.core.memory.write(at + rows * 2 + 64, GUARD);
    const id = field.column?.id ?? 0;
    const values = core.alloc(65536 * 8);
    const call = (capacity: number) => core.x.hg_segment_codes(this.built.handle, field.kind, id, at, values, capacity);
    const count = call(65536);
    expect(core.bytes(at + rows * 2 + 64, GUARD.length)).toEqual(GUARD);
    if (count === 0) return undefined;
    const known = core.rows;
    expect(call(known - 1)).toBe(STATUS.tooSmall);
    expect(core.needed).toBe(known);
    expect(call(known)).toBe(count);
    const bytes = core.bytes(at, rows * 2);
    const codes = Array.from(new Uint16Array(bytes.buffer, bytes.byteOffset, rows));
    return { at, count, known, values: core.numbers(values, known), codes };
  }

  texts(column: Column, entries: number): string[] {
    const { core } = this;
    const tooSmall = core.x.hg_segment_texts(this.built.handle, column.id, core.alloc(8), 0);
    expect(tooSmall).toBe(STATUS.tooSmall);
    const room = core.needed;
    const at = core.alloc(room);
    expect(core.x.hg_segment_texts(this.built.handle, column.id, at, room)).toBe(room);
    const ends = core.words(at, entries);
    expect(ends.at(-1)! + entries * 4).toBe(room);
    return ends.map((end, i) => core.text(at + entries * 4 + (ends[i - 1] ?? 0), end - (ends[i - 1] ?? 0)));
  }

  figures(field: Field, codes: number, groups: number, wants: number): { status: number; figures: number[] } {
    const { core } = this;
    const bytes = groups * core.x.HG_FIGURES_BYTES.value;
    const at = core.alloc(bytes + GUARD.length);
    core.core.memory.write(at + bytes, GUARD);
    const id = field.column?.id ?? 0;
    const { handle } = this.built;
    const status = core.x.hg_segment_figures(handle, field.kind, id, this.selection, codes, groups, wants, at);
    expect(core.bytes(at + bytes, GUARD.length)).toEqual(GUARD);
    return { status, figures: core.numbers(at, groups * FIGURES) };
  }
}

interface Codes {
  at: number;
  count: number;
  known: number;
  values: number[];
  codes: number[];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

const SCALE = 1074n;

/** Returns a double as an integer multiple of 2^-1074. */
function exact(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & ((1n << 52n) - 1n);
  const size = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return bits >> 63n ? -size : size;
}

function rounded(sum: bigint): number {
  // A large sum is cut to multiples of 2^-60 before it is rounded. A small one is rounded whole,
  // and the scaling is exact.
  const shift = SCALE - 60n;
  const coarse = Number(sum / (1n << shift)) * 2 ** -60;
  return Math.abs(coarse) > 2 ** -7 ? coarse : Number(sum) * 2 ** -537 * 2 ** -537;
}

function expectSum([count, sum, lack]: readonly number[], values: readonly number[], isInteger: boolean): void {
  expect(count).toBe(values.length);
  const total = values.reduce((all, value) => all + exact(value), 0n);
  if (isInteger) {
    expect(BigInt(sum!) + BigInt(lack!)).toBe(total >> SCALE);
    return;
  }
  const size = values.reduce((all, value) => all + Math.abs(value), 0);
  expect(Math.abs(sum! + lack! - rounded(total))).toBeLessThanOrEqual(
    Math.abs(rounded(total)) * 2 ** -52 + size * 1e-28,
  );
}

function expectEnds([, , , least, greatest]: readonly number[], values: readonly number[]): void {
  expect(least! + 0).toBe(values.reduce((a, b) => Math.min(a, b), Infinity) + 0);
  expect(greatest! + 0).toBe(values.reduce((a, b) => Math.max(a, b), -Infinity) + 0);
}

const tables = makeTables().filter((table) => table.edges.length <= 4000);
const ALL = WANT.count | WANT.sum | WANT.ends;

describe.each(BUILDS)('a segment read by columns, %s build', (build) => {
  describe.each(tables.map((table, place) => ({ name: table.name, table, place })))('$name', ({ table, place }) => {
    const core = new Instance(build);
    let bench: Bench;
    const open = () => {
      bench ??= new Bench(core, table, place + 1);
      return bench;
    };
    const rounds = build === 'release' ? 12 : 4;

    it('selects row ranges, row lists, and all rows that are not dead', () => {
      const b = open();
      for (let round = 0; round < 3 * rounds; round++) expect(b.select()).toEqual(b.selected());
    });

    it('keeps the rows whose value is inside a range, or those whose value is outside it', () => {
      const b = open();
      for (const field of b.fields.filter((one) => b.isNumeric(one))) {
        const numbers = b.numbersOf(field);
        for (let round = 0; round < rounds; round++) {
          const rows = b.select();
          const wanted = randomRange(b.random, numbers, field.column?.id ?? 0);
          const { bytes } = encodeRanges([wanted]);
          const outside = b.random.below(3) === 0;
          if (outside) bytes[28]! |= OUTSIDE;
          expect(core.x.hg_segment_select(b.built.handle, b.selection, field.kind, core.put(bytes))).toBe(0);
          const holds = (row: number) => numbers[row] != null && lies(numbers[row], wanted) !== outside;
          expect(b.selected(), `${field.name} ${JSON.stringify(wanted)} ${outside}`).toEqual(rows.filter(holds));
        }
      }
    });

    it('refuses ranges, numeric aggregates and texts for columns that cannot have them', () => {
      const b = open();
      b.select();
      const { bytes } = encodeRanges([{ column: 6, low: 0, high: 1, lowOpen: false, highOpen: false, missing: 0 }]);
      for (const field of b.fields.filter((one) => !b.isNumeric(one))) {
        new DataView(bytes.buffer).setUint32(24, field.column!.id, true);
        const columnNumbers = b.table.edges.some((edge) => b.valueOf(field, edge) !== null);
        if (!columnNumbers) continue;
        expect(core.x.hg_segment_select(b.built.handle, b.selection, 0, core.put(bytes))).toBe(STATUS.badArgument);
        expect(b.figures(field, 0, 1, ALL).status).toBe(STATUS.badArgument);
      }
      expect(core.x.hg_segment_texts(b.built.handle, 0, core.alloc(64), 64)).toBe(STATUS.badArgument);
      expect(b.figures({ name: 'bucket', kind: ROW_FIELD.bucket, column: undefined }, 0, 1, ALL).status).toBe(
        STATUS.badArgument,
      );
    });

    it('gives codes to fields with few distinct values', () => {
      const b = open();
      for (const field of b.fields) {
        const coded = b.codes(field);
        const values = table.edges.map((edge) => b.valueOf(field, edge));
        const given = values.filter((value) => value !== null);
        if (coded === undefined) {
          expectNoCodes(field, given);
          continue;
        }
        expect(coded.count).toBe(coded.known + (given.length < values.length ? 1 : 0));
        const texts = field.column?.type === 'TEXT' ? b.texts(field.column, coded.known) : undefined;
        if (texts !== undefined)
          expect(texts).toEqual([...new Set(given as string[])].sort((x, y) => (byCodePoint(x, y) ? -1 : 1)));
        for (const [row, code] of coded.codes.entries()) {
          const isNull = code === coded.known;
          const value = isNull ? null : texts === undefined ? coded.values[code]! : texts[code]!;
          const own = values[row]!;
          expect(value).toBe(typeof own === 'boolean' ? Number(own) : own);
        }
      }
    });

    it('gives each bucket a code, whose value is the time of the first row of the bucket', () => {
      const b = open();
      const coded = b.codes({ kind: ROW_FIELD.bucket, column: undefined })!;
      const buckets = table.edges.map((edge) => Math.floor(edge.time / table.bucketSeconds));
      expect(coded.count).toBe(new Set(buckets).size);
      expect(coded.codes.map((code) => Math.floor(coded.values[code]! / table.bucketSeconds))).toEqual(buckets);
      expect(coded.codes.map((code) => table.edges[coded.codes.indexOf(code)]!.time)).toEqual(
        coded.codes.map((code) => coded.values[code]!),
      );
    });

    it('counts and keeps rows by code, and combines the codes of two fields', () => {
      const b = open();
      const all = b.fields.flatMap((field) => b.codes(field) ?? []);
      for (const coded of all) {
        const rows = b.select();
        const truth = Uint8Array.from({ length: Math.max(16, coded.count) }, () => b.random.below(2));
        const counts = core.alloc(coded.count * 4);
        core.x.hg_codes_count(coded.at, b.rows, b.selection, counts, coded.count);
        const expected = range(0, coded.count).map((code) => rows.filter((row) => coded.codes[row] === code).length);
        expect(core.words(counts, coded.count)).toEqual(expected);
        core.x.hg_selection_keep(b.selection, coded.at, b.rows, core.put(truth), coded.count);
        expect(b.selected()).toEqual(rows.filter((row) => truth[coded.codes[row]!] === 1));
        const other = all[b.random.below(all.length)]!;
        if (other === coded || coded.count * other.count > 65536) continue;
        core.x.hg_codes_join(coded.at, other.at, other.count, b.rows);
        const bytes = core.bytes(coded.at, b.rows * 2);
        coded.codes = coded.codes.map((code, row) => code * other.count + other.codes[row]!);
        coded.count *= other.count;
        expect(Array.from(new Uint16Array(bytes.buffer, bytes.byteOffset, b.rows))).toEqual(coded.codes);
      }
    });

    it('computes the sum, the least and the greatest value, over all rows and by code', () => {
      const b = open();
      const keys = [undefined, ...b.fields.flatMap((field) => b.codes(field) ?? [])];
      for (const field of b.fields.filter((one) => b.isNumeric(one))) {
        const numbers = b.numbersOf(field);
        const isInteger = field.column?.type !== 'REAL';
        for (let round = 0; round < rounds; round++) {
          const rows = b.select();
          const by = keys[b.random.below(keys.length)];
          const wants = round === 0 ? ALL : 1 + b.random.below(7);
          const groups = by?.count ?? 1;
          const { status, figures } = b.figures(field, by?.at ?? 0, groups, wants);
          expect(status).toBe(0);
          for (let group = 0; group < groups; group++) {
            const own = figures.slice(group * FIGURES, (group + 1) * FIGURES);
            const members = by === undefined ? rows : rows.filter((row) => by.codes[row] === group);
            const values = members.map((row) => numbers[row]!).filter((value) => value !== null);
            if (wants & WANT.sum && wants & WANT.count) expectSum(own, values, isInteger);
            if (!(wants & WANT.sum)) expect(own.slice(1, 3)).toEqual([0, 0]);
            if (wants & WANT.count) expect(own[0]).toBe(values.length);
            if (wants & WANT.ends) expectEnds(own, values);
            else expect(own.slice(3)).toEqual([Infinity, -Infinity]);
          }
        }
      }
    });
  });

  it('sums row by row where the SIMD lanes would overflow', () => {
    const core = new Instance(build);
    const column: Column = { id: 0, name: 'weight', type: 'REAL', indexed: false, byDefault: null };
    const huge = (sign: (row: number) => number): NamedTable => ({
      name: 'huge',
      bucketSeconds: 10,
      columns: [column],
      edges: range(0, 200).map((row) => edgeOf(row, row, [1], { 0: sign(row) * 1.7e308 })),
      widths: [4, 0, 2, 4],
    });
    const field = { name: 'weight', kind: ROW_FIELD.column, column };
    const turns = new Bench(
      core,
      huge((row) => (row % 2 === 0 ? 1 : -1)),
      1,
    );
    core.x.hg_selection_window(turns.selection, 200, 0, 199);
    const { figures } = turns.figures(field, 0, 1, ALL);
    expect([figures[0], figures[1]! + figures[2]!, figures[3], figures[4]]).toEqual([199, 1.7e308, -1.7e308, 1.7e308]);
    const same = new Bench(
      core,
      huge(() => 1),
      1,
    );
    core.x.hg_selection_window(same.selection, 200, 0, 200);
    const over = same.figures(field, 0, 1, ALL).figures;
    expect(Number.isFinite(over[1]! + over[2]!)).toBe(false);
  });
});

function expectNoCodes({ column, kind }: Field, given: readonly Value[]): void {
  if (kind !== ROW_FIELD.column) {
    expect(kind).not.toBe(ROW_FIELD.size);
    return;
  }
  if (given.length === 0 || column!.type === 'REAL') return;
  expect(column!.type).toBe('INTEGER');
  const numbers = given as number[];
  const least = numbers.reduce((a, b) => Math.min(a, b));
  expect(numbers.reduce((a, b) => Math.max(a, b)) - least).toBeGreaterThan(65534);
}

/**
 * Compares by code point, as a comparison of UTF-8 bytes does. Comparing UTF-16 code units would
 * order characters beyond the basic plane differently.
 */
function byCodePoint(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

function lies(value: number, { low, high, lowOpen, highOpen }: NumericRange): boolean {
  return (lowOpen ? value > low : value >= low) && (highOpen ? value < high : value <= high);
}

function randomRange(random: Random, numbers: readonly (number | null)[], column: number): NumericRange {
  const bound = (): number => {
    const value = numbers[random.below(numbers.length)] ?? 0;
    return [value, value, value, value + 0.5, value - 1, SAFE, -SAFE, 0, -0, Infinity, -Infinity][random.below(11)]!;
  };
  const [a, b] = [bound(), bound()];
  const swap = random.below(8) > 0 && a > b;
  return {
    column,
    low: swap ? b : a,
    high: swap ? a : b,
    lowOpen: random.below(2) === 0,
    highOpen: random.below(2) === 0,
    missing: Number.NaN,
  };
}
