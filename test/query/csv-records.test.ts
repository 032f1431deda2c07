import { Parser } from 'csv-parse';
import { expect, test } from 'vitest';
import { type CutRules, csvRecords } from '../../src/query/copy/csv-records.ts';
import { wholeLines } from '../../src/query/copy/whole-lines.ts';
import { Random } from '../support/random.ts';

const STRICT: CutRules = { delimiter: ',', maxRecordBytes: 1 << 20, passesFaults: false };
const PASSING: CutRules = { ...STRICT, maxRecordBytes: 1000, passesFaults: true };

async function cut(text: string | Buffer, rules: CutRules, chunkBytes = 1 << 20) {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  const all = {
    records: [] as unknown[],
    ends: [] as number[],
    raws: [] as string[],
    faults: new Map<number, string>(),
    lines: [] as number[],
    failure: undefined as string | undefined,
  };
  for await (const one of csvRecords(wholeLines(chunks, 1 << 20, false), rules)) {
    for (const [at, fault] of one.faults) all.faults.set(all.records.length + at, fault);
    for (const record of one.records) all.records.push(record);
    all.ends = all.ends.concat(one.ends);
    all.raws = all.raws.concat(one.raws);
    all.lines = all.lines.concat(one.lines);
    all.failure = one.failure?.message;
  }
  return all;
}

/**
 * Returns the records that csv-parse reads. As in our reader, an empty cell without quotes is null.
 */
function judged(text: string): Promise<{ records: (string | null)[][]; isWhole: boolean }> {
  const records: (string | null)[][] = [];
  const parser = new Parser({
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    cast: (cell, { quoting }) => (cell === '' && !quoting ? null : cell),
    on_record: (record: (string | null)[]) => {
      records.push(record);
      return null;
    },
  });
  return new Promise((resolve) => {
    parser.on('error', () => resolve({ records, isWhole: false }));
    parser.on('end', () => resolve({ records, isWhole: true }));
    parser.resume();
    parser.end(text);
  });
}

test('random texts are read as csv-parse reads them, however they are cut into chunks', async () => {
  let whole = 0;
  for (let seed = 0; seed < 1500; seed++) {
    const random = new Random(seed);
    const pieces = ['a', 'é', '12', ',', ',', '\n', '\n', '\r\n', '\r', '"', '""', '"x"', ',"q, ""w"""\n', '😀', ' '];
    const text = Array.from({ length: random.below(30) }, () => pieces[random.below(pieces.length)]!).join('');
    const want = await judged(text);
    const got = await cut(text, STRICT, 1 + random.below(20));
    expect(got.failure === undefined, `seed ${seed} ${JSON.stringify(text)}`).toBe(want.isWhole);
    if (!want.isWhole) continue;
    whole++;
    expect(got.records, `seed ${seed} ${JSON.stringify(text)}`).toEqual(want.records);
    expect(got.raws.join('')).toBe(text);
    expect(got.ends).toEqual(got.raws.map((_, at) => Buffer.byteLength(got.raws.slice(0, at + 1).join(''))));
  }
  expect(whole).toBeGreaterThan(250);
});

test('the same bytes give the same records, however they are cut into chunks', async () => {
  const text = 'a,b\n1,"two\nlines"\r\n"é ""x""",\n,""\n3,4';
  const want = await cut(text, STRICT);
  expect(want.records).toEqual([
    ['a', 'b'],
    ['1', 'two\nlines'],
    ['é "x"', null],
    [null, ''],
    ['3', '4'],
  ]);
  expect(want.lines).toEqual([1, 2, 1, 1, 1]);
  for (let bytes = 1; bytes < text.length; bytes++) expect(await cut(text, STRICT, bytes)).toEqual(want);
});

test.each([
  ['a quote that never ends', '3,"open', 'a cell in quotes does not end.'],
  ['a quote inside of a cell', '3,5" disk', 'a quote is in a cell that is not in quotes.'],
  ['a quote that is not doubled', '3,"a"b"', 'a quote inside of a cell in quotes is not doubled.'],
])('%s makes the whole read fail, or only its own line if faults are skipped', async (_name, line, reason) => {
  const text = `1,2\n${line}\n4,5\n6,7\n`;
  const strict = await cut(text, STRICT);
  expect([strict.records, strict.failure]).toEqual([[['1', '2']], reason]);
  for (const bytes of [1, 3, 100]) {
    const passing = await cut(text, PASSING, bytes);
    expect(passing.failure).toBeUndefined();
    expect([...passing.faults.keys()]).toEqual([1]);
    expect(passing.records).toEqual([['1', '2'], [], ['4', '5'], ['6', '7']]);
    expect(passing.raws[1]).toBe(`${line}\n`);
  }
});

test('a line that is not UTF-8 is a fault by itself, and the other lines are read', async () => {
  const text = Buffer.concat([Buffer.from('é,1\nJos'), Buffer.from([0xe9]), Buffer.from(',2\n😀,3\n')]);
  const { records, faults, ends } = await cut(text, PASSING);
  expect(records).toEqual([['é', '1'], [], ['😀', '3']]);
  expect(faults.get(1)).toMatch(/not valid UTF-8; --encoding windows-1252 reads it as "José,2"/);
  expect(ends).toEqual([5, 12, 19]);
});

test('a record of several lines with a wrong number of cells is reported as an open quote on its first line', async () => {
  const text = '1,2\n"open,3\n4,5\n6,7"\n"a\nb",8\n';
  const { records, faults } = await cut(text, { ...PASSING, width: 2 });
  expect(records).toEqual([['1', '2'], [], ['4', '5'], [], ['a\nb', '8']]);
  expect([...faults]).toEqual([
    [1, 'a cell in quotes does not end.'],
    [3, 'a quote is in a cell that is not in quotes.'],
  ]);
});

test('a row with an open quote fails at the length limit, and its bytes are not read again for every block', async () => {
  const text = `1,2\n"open\n${'3,4\n'.repeat(20_000)}`;
  const { records, faults } = await cut(text, PASSING, 1024);
  expect(records.length).toBe(20_002);
  expect([...faults]).toEqual([[1, 'the row is longer than 1000 bytes.']]);
});

test('the search for a delimiter ends at the end of the line, not of the file', async () => {
  const { records } = await cut('x\n'.repeat(200_000), STRICT);
  expect(records.length).toBe(200_000);
});
