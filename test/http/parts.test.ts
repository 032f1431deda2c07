import { describe, expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { AnswerSpace } from '../../src/http/answer/answer-space.ts';
import { formatOf } from '../../src/http/answer/format.ts';
import { BodyCollector } from '../../src/http/body.ts';
import { writeAscii, writeInteger, writeNumber } from '../../src/http/byte-text.ts';
import { EntityTags } from '../../src/http/entity-tag.ts';
import { AnswerHeads, HeadBlock } from '../../src/http/head-block.ts';
import { parseInteger } from '../../src/http/integers.ts';
import { mediaType } from '../../src/http/media.ts';
import { queryObject } from '../../src/http/query-text.ts';
import { isSaneId, RequestIds } from '../../src/http/request-id.ts';
import type { Route } from '../../src/http/route.ts';
import { decodedParameters, Router } from '../../src/http/router.ts';
import { v } from '../../src/http/schema.ts';
import { ColumnSet } from '../../src/model/columns.ts';
import { readEdge } from '../../src/model/edge.ts';
import { RoleSet } from '../../src/model/roles.ts';
import { routes } from '../../src/routes/index.ts';
import { parseRowsQuery } from '../../src/routes/rows-query.ts';
import { edgeBody } from '../../src/routes/schemas/edges.ts';
import { lookupQuery } from '../../src/routes/schemas/rows.ts';
import { Scheduler } from '../../src/schedule/scheduler.ts';
import { fc } from '../support/property.ts';
import { Random } from '../support/random.ts';

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('numbers', () => {
  test('are written as JavaScript writes them', () => {
    const bytes = new Uint8Array(64);
    const written = (value: number) => textOf(bytes.subarray(0, writeNumber(bytes, 0, value)));
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => written(value) === String(value)));
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => Number(written(value)) === value),
    );
    for (const value of [0, 9, 10, 99, 100, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      expect(textOf(bytes.subarray(0, writeInteger(bytes, 0, value)))).toBe(String(value));
    }
    expect(writeAscii(bytes, 3, 'abc')).toBe(6);
  });

  test('are read as strict decimal integers', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => Object.is(parseInteger(String(value)), value === 0 ? 0 : value)),
    );
    for (const text of [
      '',
      '-',
      '+1',
      '1.0',
      '1e3',
      ' 1',
      '1 ',
      '0x1',
      '٣',
      '9007199254740992',
      '-9007199254740992',
      '1'.repeat(400),
    ]) {
      expect([text, parseInteger(text)]).toEqual([text, Number.NaN]);
    }
    expect(parseInteger('-0')).toBe(0);
    expect(parseInteger('x12y', 1, 3)).toBe(12);
  });
});

describe('precomputed headers', () => {
  test('contain the last value of every number, whatever the length of its previous value', () => {
    const block = new HeadBlock(['a=', ';b=', ';c=']);
    fc.assert(
      fc.property(
        fc.array(fc.record({ index: fc.nat(2), value: fc.oneof(fc.nat(20), fc.maxSafeNat()) }), { maxLength: 20 }),
        (changes) => {
          const values = [0, 0, 0];
          for (const index of [0, 1, 2]) block.set(index, 0);
          for (const { index, value } of changes) {
            block.set(index, value);
            values[index] = value;
            const texts = [`a=${values[0]}`, `;b=${values[1]}`, `;c=${values[2]}`];
            for (const last of [0, 1, 2]) expect(textOf(block.upTo(last))).toBe(texts.slice(0, last + 1).join(''));
          }
        },
      ),
    );
  });

  test('contain the header lines of an answer', () => {
    const tags = new EntityTags('boot');
    const heads = new AnswerHeads({ limit: 60, vary: 'Accept', tags, idPrefix: 'ab-' });
    const lines = (...numbers: [number, number, number, number, number]) =>
      textOf(heads.fill(...numbers)).split('\r\n');
    const start = ['application/json', 'Vary: Accept', 'X-RateLimit-Limit: 60', 'X-RateLimit-Reset: 1700000000'];
    expect(lines(1700000000, 59, -1, -1, 7)).toEqual([...start, 'X-RateLimit-Remaining: 59', 'X-Request-Id: ab-7']);
    expect(lines(1700000000, 5, 12, 9, -1)).toEqual([
      ...start,
      'X-Hedgerow-LSN: 12',
      'ETag: W/"boot-9"',
      'X-RateLimit-Remaining: 5',
    ]);
    expect(lines(1700000000, 5, -1, 0, 10)).toEqual([
      ...start,
      'ETag: W/"boot-0"',
      'X-RateLimit-Remaining: 5',
      'X-Request-Id: ab-10',
    ]);
  });
});

test('the answer space gives views of every length', () => {
  const space = new AnswerSpace();
  for (const length of [0, 5, 5, 8191, 8192, 100_000]) expect(space.view(length).length).toBe(length);
});

test('generated request ids are a prefix and a number', () => {
  const ids = new RequestIds('ab');
  expect([ids.nextNumber(), ids.nextNumber()]).toEqual([1, 2]);
  fc.assert(fc.property(fc.oneof(fc.nat(3000), fc.maxSafeNat()), (number) => ids.textOf(number) === `ab-${number}`));
});

test('request ids with anything but printable ASCII are not accepted', () => {
  expect(isSaneId('a b~!')).toBe(true);
  for (const id of ['', 'a\r\nb', 'a\tb', 'é', '\x7f', 'x'.repeat(129)]) expect(isSaneId(id)).toBe(false);
});

test('mediaType returns the type in lower case without parameters', () => {
  expect(['', 'application/json', 'Application/JSON ; charset=x'].map(mediaType)).toEqual(
    Array(3).fill('application/json'),
  );
  expect(mediaType('text/plain')).toBe('text/plain');
});

test.each([
  ['', 'json'],
  ['*/*', 'json'],
  ['text/html', 'json'],
  ['application/json', 'json'],
  ['Application/X-NDJSON;q=0.5', 'ndjson'],
  ['application/x-ndjson, application/json', 'ndjson'],
  ['application/json, application/x-ndjson', 'json'],
  ['application/x-ndjson;q=0, application/json', 'json'],
  ['application/x-ndjson; q=0.0', 'json'],
  ['application/x-ndjson;q=0.5', 'ndjson'],
])('the header Accept "%s" selects the format %s', (accept, format) => expect(formatOf(accept).rows).toBe(format));

test('bodies up to the size limit are assembled', () => {
  const arrayOf = (text: string) => Uint8Array.from(Buffer.from(text)).buffer;
  const collector = new BodyCollector(200_000, 0);
  let expected = '';
  for (let i = 0; i < 199; i++) {
    const piece = String(i).padEnd(1000, '.');
    expected += piece;
    expect(collector.add(arrayOf(piece))).toBe(true);
  }
  expect(collector.take().toString()).toBe(expected);
  expect(collector.add(arrayOf('x'.repeat(1001)))).toBe(false);
  expect(new BodyCollector(5, 0).take().length).toBe(0);
});

test('long bodies are assembled in steps of bounded size, whatever their chunks', () => {
  const random = new Random(5);
  for (let round = 0; round < 40; round++) {
    const size = random.below(9 * 2 ** 20);
    const sent = Buffer.alloc(size, `${round}0123456789abcdef`);
    const most = 1 + random.below(random.chance(0.5) ? 600_000 : 3_000_000);
    const collector = new BodyCollector(16 * 2 ** 20, random.chance(0.5) ? size : 0);
    for (let at = 0; at < size; ) {
      const to = Math.min(size, at + 1 + random.below(most));
      expect(collector.add(sent.subarray(at, to))).toBe(true);
      at = to;
    }
    expect(collector.capacity).toBeLessThanOrEqual(size + 2 ** 20);
    let steps = 0;
    if (collector.isLong)
      do steps++;
      while (collector.join());
    if (size >= 6 * 2 ** 20) expect(steps).toBeGreaterThan(3);
    expect(collector.take().equals(sent)).toBe(true);
  }
});

test('query strings are decoded into an object, and a repeated name is refused', () => {
  expect({ ...queryObject('a=1&b=&c&=x&d=%20+e&&f=a=b') }).toEqual({
    a: '1',
    b: '',
    c: '',
    '': 'x',
    d: '  e',
    f: 'a=b',
  });
  expect(() => queryObject('a=1&a=2')).toThrow('twice');
  expect({ ...queryObject('__proto__=1') }).toEqual({ ['__proto__']: '1' });
});

describe('the router', () => {
  const route = (method: Route['method'], path: string) => ({ method, path }) as Route;

  test('refuses the same route twice', () => {
    expect(() => new Router([route('GET', '/a'), route('GET', '/a')])).toThrow('twice');
  });

  test('prefers exact paths, decodes parameters and never matches an empty parameter', () => {
    const router = new Router([route('GET', '/a/{x}'), route('GET', '/a/b'), route('GET', '/a/{x}/c/{y}')]);
    const parametersOf = (path: string) => decodedParameters(router.find(path)!.parameters);
    expect(parametersOf('/a/b')).toEqual([]);
    expect(parametersOf('/a/%2Fé%20')).toEqual(['/é ']);
    expect(parametersOf('/a/1/c/2')).toEqual(['1', '2']);
    for (const path of ['/a/', '/a', '/a/1/c/', '/a//c/2', '/A/b', '/a/1/d/2', '']) {
      expect(router.find(path)).toBeUndefined();
    }
    expect(() => parametersOf('/a/%zz')).toThrow('percent-encoded');
  });

  test('gets only routes that have a summary and describe their answers', () => {
    for (const one of routes) {
      expect(one.summary).toMatch(/\.$/);
      expect(Object.keys(one.schemas.answers).length).toBeGreaterThan(0);
      expect(one.method === 'GET' ? one.bodyTypes : []).toEqual([]);
    }
  });
});

test('the scheduler alternates between tasks and reports an error that a step throws', async () => {
  const queue = new Scheduler(() => performance.now());
  const order: string[] = [];
  const count = (name: string) => {
    let left = 3;
    return () => {
      order.push(name);
      left -= 1;
      return left > 0;
    };
  };
  await Promise.all([queue.run('body', count('a')), queue.run('statement', count('b'))]);
  expect(order.join('')).toBe('ababab');
  await expect(
    queue.run('body', () => {
      throw new Error('broken');
    }),
  ).rejects.toThrow('broken');
  await queue.run('body', () => false);
});

describe('handwritten checks and the schemas that describe them', () => {
  const value = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string(),
    fc.boolean(),
    fc.constantFrom(null, undefined, 2 ** 53, 1.5, [], [1], [1, 'x'], [2 ** 53], {}),
  );
  const field = (usual: fc.Arbitrary<unknown>) => fc.oneof({ weight: 5, arbitrary: usual }, value);
  const table = { name: 't', columns: new ColumnSet([]), maxMembers: 64, roles: RoleSet.none };

  test('accept the same edges', () => {
    const edge = fc.record(
      {
        event_ts: field(fc.integer()),
        members: field(fc.array(fc.integer(), { minLength: 1, maxLength: 3 })),
        weight: field(fc.double({ noNaN: true, noDefaultInfinity: true })),
        mean_dist_m: field(fc.constant(null)),
        formation: field(fc.string()),
        other: value,
      },
      { requiredKeys: [] },
    );
    const accepts = (source: Record<string, unknown>) => {
      try {
        readEdge(source, table, ['body']);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(HedgerowError);
        return false;
      }
    };
    // The schema describes named tables too, whose members are texts.
    const hasKey = ({ members }: { members?: unknown }) =>
      Array.isArray(members) && members.some((member) => typeof member === 'string');
    fc.assert(
      fc.property(edge, (source) => hasKey(source) || accepts(source) === v.safeParse(edgeBody, source).success),
      { numRuns: 2000 },
    );
  });

  test('accept the same query strings', () => {
    const text = fc.oneof(fc.integer().map(String), fc.constantFrom('', '0', '-1', '1.5', 'x', '9007199254740993'));
    const query = fc.record({ start_ts: text, end_ts: text, limit: text, table: text, x: text }, { requiredKeys: [] });
    fc.assert(
      fc.property(query, (source) => {
        let accepted = true;
        try {
          parseRowsQuery(new URLSearchParams(source as Record<string, string>).toString());
        } catch {
          accepted = false;
        }
        return accepted === v.safeParse(lookupQuery, source).success;
      }),
      { numRuns: 2000 },
    );
  });
});
