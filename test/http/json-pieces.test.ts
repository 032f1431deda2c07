import { describe, expect, test } from 'vitest';
import { parseLongJson } from '../../src/http/json-body.ts';
import { JsonPieces, JsonProblem } from '../../src/http/json-pieces.ts';
import { Scheduler } from '../../src/schedule/scheduler.ts';
import { Random } from '../support/random.ts';
import { send, startServer } from './support.ts';

interface Outcome {
  value?: unknown;
  problem?: string;
  steps: number;
}

function pieces(text: string, pieceBytes?: number): Outcome {
  const reader = new JsonPieces(Buffer.from(text), 0, pieceBytes);
  let steps = 0;
  try {
    do steps++;
    while (reader.step());
    return { value: reader.value(), steps };
  } catch (error) {
    expect(error).toBeInstanceOf(JsonProblem);
    return { problem: (error as JsonProblem).message, steps };
  }
}

/** Returns the parsed value, or a marker if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return 'refused';
  }
}

const SCALARS = ['0', '-1.5e3', 'true', 'null', '""', '"a,b"', '"]}"', '"\\"[{"', '"\\\\"', '"é😀"', '"\\u0000"'];
const KEYS = ['"a"', '"b"', '"__proto__"', '"1"', '"é"', '"a\\",\\"b"', '""'];
const BLANKS = ['', '', '', ' ', '\n', '\t \r'];

function document(random: Random, depth: number): string {
  const pick = (from: readonly string[]) => from[random.below(from.length)]!;
  const blank = () => pick(BLANKS);
  const kind = depth === 0 ? 0 : random.below(3);
  if (kind === 0) return blank() + pick(SCALARS) + blank();
  const items = Array.from({ length: random.below(6) }, () => document(random, depth - 1));
  if (kind === 1) return `${blank()}[${items.join(',') || blank()}]${blank()}`;
  return `${blank()}{${items.map((item) => `${blank()}${pick(KEYS)}${blank()}:${item}`).join(',') || blank()}}${blank()}`;
}

/**
 * Returns the text with up to two characters removed and at most one inserted. The result is rarely
 * still JSON.
 */
function mutated(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const marks = ['[', ']', '{', '}', ',', ':', '"', '0', '-', ' ', '\\', 'n'];
  const mark = marks[random.below(marks.length)]!;
  return text.slice(0, at) + (random.below(3) === 0 ? '' : mark) + text.slice(at + random.below(3));
}

describe('a document parsed in pieces', () => {
  test('has the same value as with JSON.parse, or is refused when JSON.parse refuses it', () => {
    const random = new Random(1);
    let refused = 0;
    for (let round = 0; round < 20_000; round++) {
      const whole = document(random, 1 + random.below(5));
      // Characters that the mutation has split become U+FFFD, as in a request.
      const text = Buffer.from(random.below(2) === 0 ? whole : mutated(whole, random)).toString();
      const expected = parsed(text);
      if (expected === 'refused') refused++;
      for (const size of [1, 7, 40]) {
        const { value, problem } = pieces(text, size);
        expect(problem === undefined ? { value } : 'refused', `pieces of ${size}: ${text}`).toEqual(expected);
        // This also checks the order of fields, and own fields named `__proto__`.
        if (problem === undefined) expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      }
    }
    expect(refused).toBeGreaterThan(2000);
  });

  test('is refused when the text between two pieces is wrong', () => {
    for (const text of [
      '[[1,2],]',
      '[[1,2] [3,4]]',
      '[[1,2]"a"]',
      '[[1,2]3]',
      '{"a":1[2,3]}',
      '{"a":-[2,3]}',
      '{"a" [2,3]}',
      '{"a":"b"[2,3]}',
      '{[2,3]}',
      '{"a":[2,3]"b":1}',
      '{"a":[2,3],}',
      '[1,2}',
      '[1,2]]',
      '[1,2][3]',
      '[1,2],3',
      'x[1,2]',
      '[1,2]x',
      '[1,2',
      '["a',
      ',',
      '',
    ]) {
      expect([text, parsed(text)]).toEqual([text, 'refused']);
      for (const size of [1, 3]) expect([text, pieces(text, size).problem]).toEqual([text, expect.any(String)]);
    }
  });

  test('takes many steps when it is long', () => {
    const list = Array.from({ length: 200_000 }, (_, row) => `value ${row}`);
    const text = JSON.stringify({ query: 'q', parameters: { list, other: [list.slice(0, 9)] } });
    const { value, steps } = pieces(text);
    expect(value).toEqual(JSON.parse(text));
    expect(steps).toBeGreaterThan(20);
  });

  test('is refused with advice when it exceeds a limit', () => {
    expect(pieces('['.repeat(200)).problem).toMatch(/100 deep.*flatter/);
    expect(pieces(`[${'[],'.repeat(500_001)}1]`).problem).toMatch(/500000 lists.*several/);
    expect(pieces(`[${'1,'.repeat(1_000_001)}1]`).problem).toMatch(/list of more than 1000000 items.*several/);
    const lists = Array.from({ length: 9 }, () => `[${'1,'.repeat(900_000)}1]`).join(',');
    expect(pieces(`[${lists}]`).problem).toMatch(/8000000 values.*several/);
    expect(pieces(`{${Array.from({ length: 100_002 }, (_, row) => `"k${row}":1`).join(',')}}`).problem).toMatch(
      /100000 fields.*several/,
    );
    expect(pieces(`["${'x'.repeat(5 * 2 ** 20)}"]`).problem).toMatch(/text of more than 4 MB.*shorter/);
    expect(pieces(`"${'x'.repeat(5 * 2 ** 20)}"`).problem).toMatch(/text of more than 4 MB/);
  });
});

test('a body is not parsed further after its client has disconnected', async () => {
  const slices = new Scheduler(() => performance.now());
  const body = Buffer.from(`[${'1,'.repeat(2_000_000)}1]`);
  let looks = 0;
  expect(await parseLongJson(body, slices, () => ++looks > 3)).toBeUndefined();
  expect(looks).toBeLessThan(10);
  expect(await parseLongJson(Buffer.from('[1,2]'), slices, () => false)).toEqual({ value: [1, 2] });
});

test('a long body is parsed in slices', async () => {
  const server = await startServer();
  try {
    const parameters = { list: Array.from({ length: 60_000 }, (_, row) => `${row}${'x'.repeat(100)}`) };
    const long = send(server, 'POST', '/v1/query', {
      query: 'MATCH (e:hyperedges) WHERE e.formation IN $list RETURN count(*) AS n',
      parameters,
    });
    expect((await long).json.rows).toEqual([{ n: 0 }]);
    const wrong = await fetch(`${server.url}/v1/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"query": "x", "parameters": {"a": [${'1, '.repeat(300_000)}]}}`,
    });
    expect(wrong.status).toBe(400);
    const refusal = (await wrong.json()) as { code: string; detail: string };
    expect(refusal.code).toBe('invalid_json');
    expect(refusal.detail).toMatch(/not valid JSON at byte \d+/);
  } finally {
    await server.close();
  }
});
