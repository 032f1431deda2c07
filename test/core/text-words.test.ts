// Compares the words that an instance finds in the texts of records with those that src/text finds
// in the same texts.
import { describe, expect, it } from 'vitest';
import { type Core, loadCore, NO_TERM } from '../../src/core/index.ts';
import type { TextColumnOf } from '../../src/core/record-texts.ts';
import { TextInputs } from '../../src/core/text-input.ts';
import { HedgerowError } from '../../src/errors.ts';
import { analyzerOf } from '../../src/text/index.ts';
import { BUILDS } from './support/instance.ts';
import { type Random, randomFrom } from './support/random.ts';
import { leave, usedBytes, utf8 } from './support/text-model.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const COLUMNS: readonly TextColumnOf[] = [
  { id: 7, missing: null },
  { id: 3, missing: 'of old, unset' },
  { id: 9, missing: null },
];
const PIECES = [
  ...['a', 'B', 'word', 'Words', 'x9', '9', '3', "'", '.', ':', ',', ';', '_', '-', '!', '(', '/', '@', '\u007f'],
  ...[' ', ' ', ' ', '\n', '\t', '\r\n', '\u000b', '\f', '\0'],
  ...[
    '\u00e9',
    'stra\u00dfe',
    '\u65e5\u672c',
    '\u{1f600}',
    '\u0301',
    '\u2019',
    '\u00a0',
    '\u05d0',
    '\u0e01',
    '\u{1f1e8}',
  ],
];

const randomText = (random: Random): string =>
  Array.from({ length: random.below(random.below(4) ? 12 : 60) }, () => PIECES[random.below(PIECES.length)]!).join('');

/** Values by column: undefined is missing. */
type Row = readonly (string | null | undefined)[];

/** Writes a record of properties only (assembly/FORMAT.md, section 1); returns its address. */
function place(core: Core, row: Row): number {
  const values = row.flatMap((value, column) => (value === undefined ? [] : [{ id: COLUMNS[column]!.id, value }]));
  values.push({ id: 1, value: 'of no column that is read' });
  const parts = values.map(({ id, value }) => {
    const head = Buffer.from([id, 0, value === null ? 0 : 3, 0]);
    if (value === null) return head;
    const text = utf8(value);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([head, length, text]);
  });
  const record = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 8, 0, values.length, 0]), ...parts]);
  record.writeUInt16LE(8, 6);
  const at = core.exports.hg_memory_alloc(record.length) >>> 0;
  core.memory.write(at, record);
  return at;
}

/** The terms at the positions of each row, as texts; null: no word. */
function foundIn(core: Core, rows: readonly Row[], language: 'none' | 'english'): (string | null)[][] {
  const analyzer = analyzerOf(language);
  const records = rows.map((row) => place(core, row));
  const before = usedBytes(core);
  const inputs = new TextInputs(core, { columns: COLUMNS, termsOf: (text) => analyzer.terms(text) });
  try {
    for (const record of records) inputs.add(record);
    const { offsets, stream, termOffsets, termBytes } = inputs.input(1);
    const terms = Array.from({ length: termOffsets.length - 1 }, (_, term) =>
      Buffer.from(termBytes.subarray(termOffsets[term]!, termOffsets[term + 1]!)).toString(),
    );
    const ordered = [...terms].sort((a, b) => Buffer.compare(utf8(a) as Buffer, utf8(b) as Buffer));
    expect(terms).toEqual(ordered);
    expect(new Set(stream.filter((term) => term !== NO_TERM)).size).toBe(terms.length);
    return rows.map((_, row) =>
      Array.from(stream.subarray(offsets[row]!, offsets[row + 1]!), (term) => (term === NO_TERM ? null : terms[term]!)),
    );
  } finally {
    inputs.free();
    expect(usedBytes(core)).toBe(before);
  }
}

function wantedOf(row: Row, language: 'none' | 'english'): (string | null)[] {
  const analyzer = analyzerOf(language);
  return COLUMNS.flatMap(({ missing }, column) => {
    const value = row[column] === undefined ? missing : row[column]!;
    const terms = value === null ? [] : analyzer.terms(value);
    return column === 0 ? terms : [null, ...terms];
  });
}

describe.each(BUILDS)('words of texts (%s)', (build) => {
  it.each(['none', 'english'] as const)('are those of the analyzer: %s', (language) => {
    const core = loadCore(build).instantiate();
    const random = randomFrom(SEED);
    for (let round = 0; round < 150; round++) {
      core.exports.hg_memory_reset();
      const value = () => (random.below(6) ? randomText(random) : random.below(2) ? null : undefined);
      const rows = Array.from({ length: random.below(20) }, () => COLUMNS.map(value));
      expect(foundIn(core, rows, language)).toEqual(rows.map((row) => wantedOf(row, language)));
    }
  });

  it('are numbered beyond the first tables, and the texts of a word do not matter', () => {
    const core = loadCore(build).instantiate();
    const rows = Array.from(
      { length: 900 },
      (_, row): Row => [`w${row} W${row % 100} w${row + 1} ${'z'.repeat(row % 40)}`],
    );
    expect(foundIn(core, rows, 'none')).toEqual(rows.map((row) => wantedOf(row, 'none')));
    const many = [Array.from({ length: 9000 }, (_, place) => `n${place}`).join(' ')];
    expect(foundIn(core, [many], 'none')).toEqual([wantedOf(many, 'none')]);
  });

  it('are not found without memory, and nothing is leaked', () => {
    const core = loadCore(build).instantiate();
    const rows = Array.from({ length: 300 }, (_, row): Row => [`w${row} w${row + 1} `.repeat(20)]);
    let failures = 0;
    for (let left = 0; ; left += 3000) {
      core.exports.hg_memory_reset();
      const records = rows.map((row) => place(core, row));
      leave(core, left);
      const before = usedBytes(core);
      let inputs: TextInputs | undefined;
      let code: string | undefined;
      try {
        inputs = new TextInputs(core, { columns: COLUMNS, termsOf: (text) => analyzerOf('none').terms(text) });
        for (const record of records) inputs.add(record);
      } catch (error) {
        if (!(error instanceof HedgerowError)) throw error;
        code = error.code;
      }
      inputs?.free();
      expect(usedBytes(core)).toBe(before);
      if (code === undefined) break;
      expect(code).toBe('overloaded');
      failures++;
    }
    expect(failures).toBeGreaterThan(10);
  });
});
