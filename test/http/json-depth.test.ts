// Tests that JSON bodies with too many brackets or values are refused before they are parsed.

import { expect, test } from 'vitest';
import { parseJsonBody } from '../../src/http/json-body.ts';
import { jsonProblem, MOST_JSON_DEPTH, MOST_JSON_NODES, MOST_JSON_VALUES } from '../../src/http/json-depth.ts';
import { parseLine } from '../../src/routes/bulk-insert.ts';

const nested = (depth: number, inner: string) =>
  Buffer.from('[{"a":'.repeat(depth / 2) + inner + '}]'.repeat(depth / 2));
const whole = (body: Buffer) => ({ body, parsed: undefined });
const LONG = JSON.stringify('x'.repeat(5000));

test('only brackets outside strings count towards the depth of a body', () => {
  expect(jsonProblem(nested(MOST_JSON_DEPTH, LONG))).toBeUndefined();
  expect(jsonProblem(nested(MOST_JSON_DEPTH + 2, LONG))).toMatch(/100 deep/);
  expect(jsonProblem(Buffer.from(JSON.stringify(['['.repeat(5000), '\\"{{'.repeat(3000), '\\'])))).toBeUndefined();
  expect(jsonProblem(Buffer.from(`[${'[],'.repeat(3000)}{}]`))).toBeUndefined();
});

test('a body with millions of brackets is refused with the reason', () => {
  for (const body of ['['.repeat(20_000_000), '{"a":'.repeat(1_000_000), `${' '.repeat(5000)}${'['.repeat(200)}`])
    expect(() => parseJsonBody(whole(Buffer.from(body)))).toThrow(/more than 100 deep/);
  expect(parseJsonBody(whole(nested(MOST_JSON_DEPTH, LONG)))).toBeInstanceOf(Array);
});

test('a body with millions of objects or values is refused with the reason before they are created', () => {
  const objects = (count: number) => Buffer.from(`[${'{},'.repeat(count - 2)}{}]`);
  expect(jsonProblem(objects(MOST_JSON_NODES))).toBeUndefined();
  expect(jsonProblem(objects(MOST_JSON_NODES + 1))).toMatch(/more than 500000 lists and objects/);
  const values = (count: number) => Buffer.from(`[${'1,'.repeat(count - 1)}1]`);
  expect(jsonProblem(values(MOST_JSON_VALUES))).toBeUndefined();
  expect(jsonProblem(values(MOST_JSON_VALUES + 1))).toMatch(/more than 8000000 values/);
  expect(() => parseJsonBody(whole(Buffer.from(`{"query":"SHOW TABLES","x":[${'{},'.repeat(15_000_000)}1]}`)))).toThrow(
    /lists and objects/,
  );
  expect(() => parseLine(`{"event_ts":1,"members":[1],"x":[${'{},'.repeat(1_000_000)}1]}`)).toThrow(
    /lists and objects/,
  );
});
