import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { wholeLines } from '../../src/query/copy/whole-lines.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { Random } from '../support/random.ts';
import { CopyPlace } from './copy-place.ts';

let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  await place.insert('t', [{ event_ts: 1, members: [1, 2], properties: { place: 'a' } }]);
  mkdirSync(join(place.root, 'dir'));
  mkdirSync(join(place.home, 'outside'));
  writeFileSync(join(place.home, 'outside', 'secret.csv'), 'event_ts,members\n1,2\n');
  writeFileSync(join(place.home, 'secret.csv'), 'event_ts,members\n1,2\n');
  place.file('there.csv', 'event_ts,members\n1,2\n');
  symlinkSync(join(place.home, 'outside'), join(place.root, 'out'));
  symlinkSync(join(place.home, 'secret.csv'), join(place.root, 'linked.csv'));
  symlinkSync(join(place.root, 'there.csv'), join(place.root, 'inside.csv'));
  symlinkSync(join(place.root, 'dir'), join(place.root, 'dir-link'));
});
afterAll(() => place.close());

describe('the file of a COPY', () => {
  const WAYS_OUT = [
    '../secret.csv',
    'dir/../../secret.csv',
    'dir/../there.csv',
    './there.csv',
    '/etc/passwd',
    '/etc/x.csv',
    'out/secret.csv',
    'linked.csv',
    'inside.csv',
    'dir-link/x.csv',
    'there.csv/x.csv',
    'nowhere/x.csv',
    '',
    '.',
    '..',
    '/',
    'dir//x.csv',
    'x.csv/',
    'dir\\x.csv',
    'C:/x.csv',
    'x\u0000.csv',
    'x\n.csv',
    'x\u202e.csv',
    '\ud800.csv',
    ' x.csv',
    'dir /x.csv',
    'dir',
    'there',
    '.csv',
    'dir/.parquet',
    'x.txt',
    'x.csv.zip',
    'x.gz',
    'x.parquet.gz',
    'x.csv.',
    `${'x'.repeat(256)}.csv`,
    `${'x/'.repeat(600)}x.csv`,
  ];

  test.each(WAYS_OUT)('is refused for reading and writing if it is %j', async (file) => {
    const before = place.names;
    const { rowCount } = place.database.table('t');
    for (const statement of ['COPY t FROM $file', 'COPY t TO $file']) {
      const error = await place.refused(statement, { file });
      expect(error, error.message).toMatchObject({ code: 'invalid_input', status: 400 });
    }
    expect(place.names).toEqual(before);
    expect(place.database.table('t').rowCount).toBe(rowCount);
  });

  test('may be an absolute path below the copy root', async () => {
    await place.run('COPY t TO $file', { file: join(place.root, 'dir', 'Absolute.CSV') });
    expect(place.has('dir/Absolute.CSV')).toBe(true);
  });

  test('must exist in order to be read', async () => {
    const error = await place.refused("COPY t FROM 'gone.csv'");
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(error.message).toMatch(/no such file/);
  });

  test('must be named by a text', async () => {
    expect(await place.refused('COPY t FROM $file', { file: 5 })).toMatchObject({ status: 400 });
    expect(await place.refused('COPY t FROM $file')).toMatchObject({ status: 400 });
    expect(await place.refused('COPY t FROM $file', { file: ['x.csv'] })).toMatchObject({ status: 400 });
  });
});

test('nothing is read or written without a copy root, and the answer names the setting', async () => {
  const off = place.statements({ copyRoot: undefined });
  for (const statement of ["COPY t TO 'x.csv'", "COPY t FROM 'there.csv'", "COPY t FROM '../x'"]) {
    const error = await place.refused(statement, {}, off);
    expect(error).toMatchObject({ code: 'forbidden', status: 403, fields: { settings: ['copyRoot'] } });
    expect(error.message).toMatch(/set the copy root/);
  }
});

test('a missing copy root is made when something is written into it', async () => {
  const copyRoot = join(place.home, 'new', 'root');
  const statements = place.statements({ copyRoot });
  expect(await place.refused("COPY t FROM 'x.csv'", {}, statements)).toMatchObject({ code: 'invalid_input' });
  expect(await place.refused("COPY t TO 'sub/x.csv'", {}, statements)).toMatchObject({ code: 'invalid_input' });
  await place.run("COPY t TO 'x.csv'", {}, {}, statements);
  expect(readFileSync(join(copyRoot, 'x.csv'), 'utf8')).toMatch(/^"id"/);
});

test('COPY needs the role admin, and is refused in a transaction', async () => {
  const statements = place.statements();
  await place.run('BEGIN', {}, {}, statements);
  for (const statement of ["COPY t TO 'transacted.csv'", "COPY t FROM 'there.csv'"])
    expect(await place.refused(statement, {}, statements)).toMatchObject({ code: 'invalid_statement' });
  await place.run('ROLLBACK', {}, {}, statements);
  expect(place.has('transacted.csv')).toBe(false);
  expect(statements.prepare("COPY t TO 'x.csv'").role).toBe('admin');
  expect(statements.prepare("COPY t FROM 'x.csv'").role).toBe('admin');
  expect(statements.prepare("EXPLAIN COPY t FROM 'x.csv'").role).toBe('readonly');
});

describe('a bad row in a copied file', () => {
  const head = 'event_ts,members,n,ok,place\n';
  const CASES: [name: string, file: string, content: string | Uint8Array, message: RegExp, line?: number][] = [
    ['no number', 'a.csv', `${head}1,1,x,,\n`, /Line 2: n is "x", but it takes an integer/, 2],
    ['a fraction', 'a.csv', `${head}1,1,,,\n1.5,1,,,\n`, /Line 3: event_ts is "1.5"/, 3],
    ['too large', 'a.csv', `${head}9007199254740993,1,,,\n`, /Line 2: event_ts/, 2],
    ['no truth', 'a.csv', `${head}1,1,,yes,\n`, /Line 2: ok is "yes", but it takes true or false/, 2],
    ['no time', 'a.csv', `${head},1,,,\n`, /Line 2: event_ts is missing/, 2],
    ['no members', 'a.csv', `${head}1,,,,\n`, /Line 2: members is missing/, 2],
    ['an empty list', 'a.csv', `${head}1,[],,,\n`, /Line 2: members must hold at least one/, 2],
    ['a word among members', 'a.csv', `${head}1,1;b,,,\n`, /Line 2: members is "b"/, 2],
    ['a hole among members', 'a.csv', `${head}1,1;;2,,,\n`, /Line 2: members is ""/, 2],
    ['too few cells', 'a.csv', `${head}1,1,,,\n1,1\n`, /Line 3: The row has 2 cells, but the header names 5/, 3],
    ['too many cells', 'a.csv', `${head}1,1,,,,\n`, /Line 2: The row has 6 cells/, 2],
    ['an open quote', 'a.csv', `${head}1,1,,,"x\n1,1,,,\n`, /Line 2: a cell in quotes does not end/, 2],
    ['a quote within', 'a.csv', `${head}1,1,,,"x"y"\n`, /Line 2: a quote inside/, 2],
    ['a quote in the middle', 'a.csv', `${head}1,1,,,x"y\n`, /Line 2: a quote is in a cell/, 2],
    ['behind cells with lines', 'a.csv', `${head}1,1,,,"a\nb\r\nc"\r\n\r\n2,2,,,\n3,x,,,\n`, /Line 7: members/, 7],
    ['the first of two', 'a.csv', `${head}1,x,,,\n1,1,,,"x"y\n`, /Line 2: members/, 2],
    [
      'no UTF-8',
      'a.csv',
      Buffer.concat([Buffer.from(`${head}1,1,,,a\n2,2,,,`), Buffer.from([0xff, 10])]),
      /Line 3: the line is not valid UTF-8/,
      3,
    ],
    [
      'a text that is too long',
      'a.csv',
      `${head}1,1,,,${'x'.repeat(65_537)}\n`,
      /Line 2: place must be at most 65536 bytes/,
      2,
    ],
    [
      'too many members',
      'a.csv',
      `${head}1,${Array.from({ length: 65 }, (_, i) => i).join(';')},,,\n`,
      /Line 2: members holds 65/,
      2,
    ],
    ['no header', 'a.csv', '', /The file is empty/],
    [
      'an unknown column',
      'a.csv',
      'event_ts,members,plce\n',
      /Line 1: Table t has no column "plce".* Did you mean place\?/,
      1,
    ],
    ['a column twice', 'a.csv', 'event_ts,members,N,n\n', /Line 1: Column "n" occurs twice/, 1],
    ['no column of times', 'a.csv', 'members\n1\n', /Line 1: There is no column event_ts/, 1],
    [
      'other signs between cells',
      'a.csv',
      'event_ts;members\n1;2\n',
      /Line 1: Table t has no column "event_ts;members"/,
      1,
    ],
    ['no JSON', 'a.ndjson', '{"event_ts":1,"members":[1]}\n\n{"event_ts":1,\n', /Line 3: Not valid JSON/, 3],
    ['no object', 'a.ndjson', '[1]\n', /Line 1: The line must be a JSON object/, 1],
    ['a text for a number', 'a.ndjson', '{"event_ts":"1","members":[1]}\n', /Line 1: event_ts must be an integer/, 1],
    [
      'a fraction in JSON',
      'a.ndjson',
      '{"event_ts":1,"members":[1.5]}\n',
      /Line 1: members\[0\] must be an integer/,
      1,
    ],
    ['a number for a list', 'a.ndjson', '{"event_ts":1,"members":1}\n', /Line 1: members must be an array/, 1],
    [
      'a list for a text',
      'a.ndjson',
      '{"event_ts":1,"members":[1],"place":["x"]}\n',
      /Line 1: place must be a text/,
      1,
    ],
    [
      'half of a pair',
      'a.ndjson',
      '{"event_ts":1,"members":[1],"place":"\\ud800"}\n',
      /Line 1: place is not valid text/,
      1,
    ],
    [
      'an unknown key',
      'a.ndjson',
      '{"event_ts":1,"members":[1]}\n{"event_ts":1,"members":[1],"x":1}\n',
      /Line 2: Table t has no column "x"/,
      2,
    ],
    ['a key twice', 'a.ndjson', '{"event_ts":1,"members":[1],"n":1,"N":2}\n', /Line 1: Column "N" occurs twice/, 1],
    ['no time in JSON', 'a.ndjson', '{"event_ts":null,"members":[1]}\n', /Line 1: event_ts is missing/, 1],
    ['no gzip', 'a.csv.gz', `${head}1,1,,,\n`, /not whole gzip/],
    [
      'half of gzip',
      'a.ndjson.gz',
      gzipSync('{"event_ts":1,"members":[1]}\n'.repeat(50_000)).subarray(0, 3000),
      /not whole gzip/,
    ],
    ['no Parquet', 'a.parquet', 'event_ts,members\n1,2\n', /not a Parquet file that can be read/],
    ['nothing at all', 'a.parquet', '', /not a Parquet file that can be read/],
  ];

  test.each(CASES)(
    'is refused with its place, and nothing is inserted: %s (%s)',
    async (_name, file, content, message, line) => {
      place.file(file, content);
      const { rowCount } = place.database.table('t');
      const before = place.database.lastLsn;
      const error = await place.refused(`COPY t FROM '${file}'`);
      expect(error).toBeInstanceOf(HedgerowError);
      expect(error.message).toMatch(message);
      expect(error.status).toBe(400);
      expect(error.fields?.line).toBe(line);
      expect(place.database.table('t').rowCount).toBe(rowCount);
      expect(place.database.lastLsn).toBe(before);
    },
  );

  test('is reported with its row number if the file is Parquet', async () => {
    await place.run("COPY (MATCH (t:t) RETURN t.event_ts, t.members, 7 AS formation) TO 'wrong.parquet'");
    const error = await place.refused("COPY t FROM 'wrong.parquet'");
    expect(error.message).toMatch(/^Row 1: formation must be a text/);
    expect(error.fields).toEqual({ row: 1 });
  });

  test('is not reached if the file exceeds the limit of one commit, because COPY then ends early', async () => {
    place.file('large.ndjson', '{"event_ts":1,"members":[1,2,3]}\n'.repeat(40_000));
    const small = place.statements({ copyBytes: 2 ** 18 } as object);
    const before = place.steps;
    const error = await place.refused("COPY t FROM 'large.ndjson'", {}, small);
    expect(error).toMatchObject({ code: 'query_too_large', status: 400 });
    expect(place.steps - before).toBeLessThan(40);
  });
});

describe('a file that COPY writes', () => {
  test('never replaces another file', async () => {
    place.file('mine.csv', 'keep me');
    const error = await place.refused("COPY t TO 'mine.csv'");
    expect(error).toMatchObject({ code: 'file_exists', status: 409 });
    expect(place.read('mine.csv').toString()).toBe('keep me');
    expect(await place.refused("COPY t TO 'dir-link'")).toMatchObject({ status: 400 });
  });

  test('never replaces a file that appears during the COPY', async () => {
    place.beforeStep = () => place.file('race.csv', 'I was first');
    try {
      expect(await place.refused("COPY t TO 'race.csv'")).toMatchObject({ code: 'file_exists' });
    } finally {
      place.beforeStep = () => {};
    }
    expect(place.read('race.csv').toString()).toBe('I was first');
    expect(place.names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test.each(['stop.csv', 'stop.csv.gz', 'stop.ndjson.gz', 'stop.parquet'])(
    'leaves nothing behind when the statement is stopped: %s',
    async (file) => {
      const before = place.names;
      let steps = 0;
      place.beforeStep = () => {
        if (++steps === 2) throw new HedgerowError('timeout', 'too late');
      };
      try {
        expect(await place.refused(`COPY (MATCH (t:t) RETURN * LIMIT 5) TO '${file}'`)).toMatchObject({
          code: 'timeout',
        });
      } finally {
        place.beforeStep = () => {};
      }
      expect(place.names).toEqual(before);
    },
  );

  test('leaves nothing behind when its MATCH fails, before or while it runs', async () => {
    const before = place.names;
    expect(await place.refused("COPY (MATCH (t:nowhere) RETURN *) TO 'x.csv'")).toMatchObject({
      code: 'table_not_found',
    });
    expect(await place.refused("COPY (MATCH (t:t) RETURN t.nothing) TO 'x.csv'")).toMatchObject({
      code: 'unknown_column',
    });
    expect(await place.refused("COPY nowhere TO 'x.csv'")).toMatchObject({ code: 'table_not_found' });
    const late = "COPY (MATCH (t:t) RETURN (t.event_ts + 9007199254740990) * 2 AS n) TO 'x.csv'";
    expect(await place.refused(late)).toMatchObject({ status: 400 });
    expect(place.names).toEqual(before);
  });

  type Breaks = 'open' | 'write' | 'sync' | 'renameNew' | 'syncDir';
  const CODES: [Breaks, string, string][] = [
    ['open', 'EACCES', 'internal'],
    ['write', 'ENOSPC', 'disk_full'],
    ['sync', 'EIO', 'disk_failed'],
    ['renameNew', 'EROFS', 'internal'],
    ['syncDir', 'EIO', 'disk_failed'],
  ];

  test.each(CODES)('leaves nothing behind when %s fails with %s', async (what, code, expected) => {
    const before = place.names;
    for (const file of ['disk.csv', 'disk.csv.gz', 'disk.parquet']) {
      const error = await place.refused(`COPY t TO '${file}'`, {}, place.statements({ fs: breaking(what, code) }));
      expect(error).toBeInstanceOf(HedgerowError);
      expect(error.code).toBe(expected);
    }
    expect(place.names).toEqual(before);
  });

  function breaking(what: Breaks, code: string): Fs {
    const fail = () => Object.assign(new Error(code), { code });
    const open: Fs['open'] = (path, mode) => {
      if (mode === 'create' && what === 'open') throw fail();
      const handle = nodeFs.open(path, mode);
      if (what !== 'write' && what !== 'sync') return handle;
      return new Proxy(handle, {
        get: (target, name) => {
          if (name === what) return () => Promise.reject(fail());
          const value = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    };
    const broken = { [what]: () => Promise.reject(fail()) };
    return { ...nodeFs, ...(what === 'renameNew' || what === 'syncDir' ? broken : {}), open };
  }
});

test('a disk that fails during a read is not reported as a fault of the file', async () => {
  await place.run("COPY t TO 'sound.parquet'");
  const failing: Fs = {
    ...nodeFs,
    open: (path, mode) => {
      const handle = nodeFs.open(path, mode);
      const read = () => {
        throw Object.assign(new Error('EIO: disk'), { code: 'EIO' });
      };
      return { path, read, size: () => handle.size(), close: () => handle.close() } as unknown as ReturnType<
        Fs['open']
      >;
    },
  };
  for (const file of ['there.csv', 'sound.parquet']) {
    const error = await place.refused(`COPY t FROM '${file}'`, {}, place.statements({ fs: failing }));
    expect(error).not.toBeInstanceOf(HedgerowError);
    expect(error.message).toBe('EIO: disk');
  }
});

test('whole lines are found however the bytes are cut into chunks', async () => {
  const text = '\ufeffein\r\nzwölf\n\n日本語 👍\nlast without end';
  const bytes = Buffer.from(text);
  const random = new Random(7);
  for (let round = 0; round < 300; round++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + random.below(9);
      chunks.push(bytes.subarray(at, at + size));
      at += size;
    }
    let seen = '';
    let line = 1;
    for await (const block of wholeLines(chunks)) {
      expect(block.firstLine).toBe(line);
      const piece = block.bytes.toString();
      expect(piece.endsWith('\n') || seen.length + piece.length === text.length - 1).toBe(true);
      line += piece.split('\n').length - 1;
      seen += piece;
    }
    expect(seen).toBe(text.slice(1));
  }
});

test('reading a line without an end stops before the line fills the memory', async () => {
  let taken = 0;
  const endless = function* () {
    for (;;) {
      taken++;
      yield Buffer.alloc(1000, 'x');
    }
  };
  const read = async () => {
    for await (const _ of wholeLines(endless(), 10_000)) throw new Error('there is no line');
  };
  await expect(read()).rejects.toThrow('Line 1: the line is longer than 10000 bytes.');
  expect(taken).toBe(11);
});

test('damaged files of every format are either refused or read', { timeout: 60_000 }, async () => {
  const random = new Random(11);
  await place.insert(
    't',
    Array.from({ length: 300 }, (_, i) => ({
      event_ts: i,
      members: [i, i + 1],
      properties: { n: i, place: `"${i}"`, ok: true },
    })),
  );
  const outcomes = new Set<string>();
  for (const ending of ['.csv', '.ndjson', '.csv.gz', '.parquet']) {
    await place.run(`COPY t TO 'whole${ending}'`);
    const whole = place.read(`whole${ending}`);
    for (let round = 0; round < 60; round++) {
      const damaged = Buffer.from(whole.subarray(0, random.below(4) === 0 ? random.below(whole.length) : whole.length));
      for (let i = random.below(6); i >= 0 && damaged.length > 0; i--)
        damaged[random.below(damaged.length)] = random.below(256);
      place.file(`damaged${ending}`, damaged);
      await place.table('victim');
      try {
        await place.run(`COPY victim FROM 'damaged${ending}'`);
        outcomes.add('read');
      } catch (error) {
        expect(error, String((error as Error).stack)).toMatchObject({ status: 400 });
        outcomes.add('refused');
      }
      await place.database.dropTable('victim');
    }
  }
  expect([...outcomes].sort()).toEqual(['read', 'refused']);
});
