import { expect, test } from 'vitest';
import { HedgerowApiError, HedgerowConnectionError } from '../../src/client/index.ts';
import { scripted } from './scripted-fetch.ts';

const ANSWER = { columns: ['n'], rows: [{ n: 1 }], num_tuples: 1, query_plan: null };

test('a statement is sent with its parameters, and its answer is returned unchanged', async () => {
  const { client, requests } = scripted([{ status: 200, json: ANSWER }]);
  const answer = await client.query.run('MATCH (e:t) WHERE e.n = $n RETURN e.n', { n: 1 }, { session: 'mine' });
  expect(answer).toEqual(ANSWER);
  expect(requests[0]).toMatchObject({ method: 'POST', url: 'http://db.test/v1/query' });
  expect(JSON.parse(requests[0]!.body!)).toEqual({
    query: 'MATCH (e:t) WHERE e.n = $n RETURN e.n',
    parameters: { n: 1 },
  });
  expect(requests[0]!.headers.get('x-session-id')).toBe('mine');
});

test.each([
  ['MATCH (e:t) RETURN e', false],
  [' show tables', false],
  ['EXPLAIN DELETE FROM t', false],
  ['analyze MATCH (e:t) RETURN e', false],
  ['INSERT INTO t (event_ts, members) VALUES (1, [2])', true],
  ['// a word\nMATCH (e:t) RETURN e', true],
  ['BEGIN', true],
  ['matches', true],
])('%j is marked as safe to retry: %s', async (statement, isMarked) => {
  const { client, requests } = scripted(['refused', { status: 503, json: {} }, { status: 200, json: ANSWER }]);
  await client.query.run(statement);
  const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
  expect(keys.length).toBe(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0] !== null).toBe(isMarked);
  expect(requests[0]!.headers.get('x-session-id')).toBeNull();
});

test('reads wait for the writes of the same client', async () => {
  const { client, requests } = scripted([{ status: 200, json: ANSWER, headers: { 'x-hedgerow-lsn': '7' } }], {
    readYourWrites: true,
  });
  await client.query.run('DELETE FROM t');
  await client.query.run('MATCH (e:t) RETURN e');
  await client.query.run('DELETE FROM t');
  expect(requests.map(({ headers }) => headers.get('x-min-lsn'))).toEqual([null, '7', null]);
});

test('rows arrive one by one, and an interrupted stream throws', async () => {
  const { client, requests } = scripted([
    { pieces: ['{"n":1}\n{"n', '":2}\n'], end: 'whole' },
    { pieces: ['{"n":1}\n{"n'], end: 'cut' },
  ]);
  const rows: unknown[] = [];
  for await (const row of client.query.rows('MATCH (e:t) RETURN e.n', {})) rows.push(row);
  expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
  expect(requests[0]!.headers.get('accept')).toBe('application/x-ndjson');
  const again = async () => {
    for await (const row of client.query.rows('MATCH (e:t) RETURN e.n')) rows.push(row);
  };
  await expect(again()).rejects.toThrow(HedgerowConnectionError);
  expect(rows.length).toBe(3);
});

test('an error contains its position in the statement', async () => {
  const body = {
    detail: 'Line 2, column 5: no.',
    code: 'syntax_error',
    status: 400,
    request_id: 'r',
    line: 2,
    column: 5,
  };
  const { client } = scripted([{ status: 400, json: body }]);
  const error = await client.query.run('MATCH').catch((thrown: unknown) => thrown as HedgerowApiError);
  expect(error).toBeInstanceOf(HedgerowApiError);
  expect(error).toMatchObject({ statusCode: 400, line: 2, column: 5 });
});
