import { describe, expect, it } from 'vitest';
import { MASK, maskPatterns, Redactor } from '../../src/observe/redact.ts';
import { fc } from '../support/property.ts';

const KEY = 'hgr_Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OWFiY2RlZg';
const MODEL_KEY = 'sk-proj-AbCdEf0123456789-_xyz';

describe('patterns', () => {
  it.each([
    ['an API key', `no key ${KEY} here`, `no key ${MASK} here`],
    ['an API key beside punctuation', `("${KEY}").`, `("${MASK}").`],
    ['two API keys', `${KEY},${KEY}`, `${MASK},${MASK}`],
    ['a model key', `model said: ${MODEL_KEY}!`, `model said: ${MASK}!`],
    [
      'a password in an address',
      'postgres://ann:s3cret@db.internal:5432/x',
      `postgres://ann:${MASK}@db.internal:5432/x`,
    ],
    ['a password with an @', 'postgres://ann:p@ss@db/x', `postgres://ann:${MASK}@db/x`],
    ['a password without a user', 'redis://:s3cret@db/0', `redis://:${MASK}@db/0`],
    ['a percent-encoded password', 'mysql://ann:p%40ss@db', `mysql://ann:${MASK}@db`],
    ['two addresses', 'a://b:c@d and e://f:g@h', `a://b:${MASK}@d and e://f:${MASK}@h`],
    ['a header line', 'Authorization: Bearer abc.def.ghi', `Authorization: ${MASK}`],
    ['basic authorization', 'authorization: Basic YW5uOnNlY3JldA==', `authorization: ${MASK}`],
    ['the key header', 'X-API-Key: my-own-key', `X-API-Key: ${MASK}`],
    ['a header as a JSON member', '{"x-api-key":"my-own-key","a":1}', `{"x-api-key":"${MASK}","a":1}`],
    ['a header in JSON inside JSON', '{\\"authorization\\":\\"abc\\"}', `{\\"authorization\\":\\"${MASK}\\"}`],
    ['a bearer token alone', 'sent Bearer abcdef123456 twice', `sent Bearer ${MASK} twice`],
    ['a connection string', 'host=db user=ann password=s3cret dbname=x', `host=db user=ann password=${MASK} dbname=x`],
    ['a quoted password', "password='s3 cret' dbname=x", `password='${MASK}' dbname=x`],
    ['a parameter of an address', '/v1?api_key=abc&x=1', `/v1?api_key=${MASK}&x=1`],
    ['a JSON member', '{"openai_api_key": "abc", "b": 2}', `{"openai_api_key": "${MASK}", "b": 2}`],
    [
      'a member in JSON inside JSON, with what follows',
      '{\\"password\\":\\"s3cret\\",\\"a\\":1}',
      `{\\"password\\":\\"${MASK}`,
    ],
    ['a password after a colon', 'Password: s3cret', `Password: ${MASK}`],
    ['a key under a telling name', `token=${KEY}`, `token=${MASK}`],
    ['a key in a header', `Authorization: Bearer ${KEY}`, `Authorization: ${MASK}`],
  ])('mask %s', (_name, text, expected) => {
    expect(maskPatterns(text)).toBe(expected);
    expect(maskPatterns(expected)).toBe(expected);
  });

  it.each([
    'Table "hyperedges" exists already; take another name or drop it first.',
    'GET /v1/hyperedges/node/7?start_ts=1&end_ts=2',
    'http://127.0.0.1:8000/health/live',
    'a risk-averse task-force, sk-short',
    'key_id=key_1 next_cursor=abc',
    'Unexpected token: RETURN',
    'a table called hgr_x',
    'ann@example.com',
  ])('do not mask: %s', (text) => {
    expect(maskPatterns(text)).toBe(text);
  });

  it('take time linear in the length of the text', () => {
    const hostile = [
      'a://b:'.repeat(3000),
      `password="${'\\'.repeat(8000)}`,
      'bearer '.repeat(2500),
      '://'.repeat(6000),
    ];
    for (const text of hostile) expect(maskPatterns(text).length).toBeGreaterThan(0);
    for (const sign of ['hgr_', 'sk-', 'x-api-key:', 'token=']) {
      expect(maskPatterns(sign.repeat(4000)).length).toBeGreaterThan(0);
    }
  });
});

describe('known secrets', () => {
  it('are masked in texts, verbatim and percent-encoded', () => {
    const redactor = new Redactor();
    expect(redactor.registerSecret('p@ss/w"rd 1')).toBe(true);
    expect(redactor.text('it is p@ss/w"rd 1.')).toBe(`it is ${MASK}.`);
    expect(redactor.text('pg p%40ss%2Fw%22rd%201')).toBe(`pg ${MASK}`);
  });

  it('are masked in complete JSON lines, which remain JSON', () => {
    const redactor = new Redactor();
    for (const secret of ['quo"te\\d secret', '1234567890', 'plain-secret-text']) redactor.registerSecret(secret);
    const value = { a: 'x quo"te\\d secret y', n: 12345678901, b: 'plain-secret-text', c: ['plain-secret-text!'] };
    const line = `${JSON.stringify(value)}\n`;
    expect(JSON.parse(redactor.lines(line))).toEqual({ a: `x ${MASK} y`, n: 91, b: MASK, c: [`${MASK}!`] });
  });

  it('are masked only as whole words when they are short', () => {
    const redactor = new Redactor();
    redactor.registerSecret('open');
    expect(redactor.text('open opened (open)')).toBe(`${MASK} opened (${MASK})`);
  });

  it('are refused when they are too short to be searched for', () => {
    const redactor = new Redactor();
    expect(['abc', '', 'true', 'null'].map((secret) => redactor.registerSecret(secret))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(redactor.text('abc')).toBe('abc');
  });

  it('are masked completely when one contains another', () => {
    const redactor = new Redactor();
    redactor.registerSecret('inner-secret');
    redactor.registerSecret('outer-inner-secret-outer');
    expect(redactor.text('<outer-inner-secret-outer>')).toBe(`<${MASK}>`);
  });

  it('are masked even where a long text is truncated', () => {
    const redactor = new Redactor();
    redactor.registerSecret('k'.repeat(40));
    for (const secret of ['k'.repeat(40), 'x://u:passwordpassword@h', KEY]) {
      for (let before = 16_384 - 45; before < 16_384; before++) {
        const text = redactor.text(`${' '.repeat(before)}${secret}${' '.repeat(100)}`);
        expect(text.trim()).not.toMatch(/kk|pass|hgr_Z/);
      }
    }
  });

  it('are always masked, whatever surrounds them', () => {
    const redactor = new Redactor();
    const secret = 'c4nary-Secret_value';
    redactor.registerSecret(secret);
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const text = before + secret + after;
        expect(redactor.text(text)).not.toContain(secret);
        const line = redactor.lines(JSON.stringify({ text }));
        expect(line).not.toContain(secret);
        JSON.parse(line);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe('fields', () => {
  const redactor = new Redactor();

  it('are masked completely when their name suggests a secret', () => {
    const names = ['api_key', 'password', 'openai_api_key', 'client_secret', 'refreshToken', 'Authorization', 'cookie'];
    for (const name of names) expect(redactor.fields({ [name]: 'x' })).toEqual({ [name]: MASK });
    expect(redactor.fields({ tokens: ['a', 'b'] })).toEqual({ tokens: [MASK, MASK] });
    expect(redactor.fields({ outer: { deep: { password: 'x', pin_secret: 77 } } })).toEqual({
      outer: { deep: { password: MASK, pin_secret: MASK } },
    });
  });

  it('are not masked when their name only resembles the name of a secret', () => {
    const fields = { key_id: 'key_1', next_cursor: 'abc', idempotent: true, prompt_tokens: 12, keys: 3, password: '' };
    expect(redactor.fields(fields)).toEqual(fields);
  });

  it('become plain values of limited size', () => {
    const loop: Record<string, unknown> = { a: 1 };
    loop.self = loop;
    const copy = redactor.fields({
      gone: undefined,
      nothing: null,
      big: 2n ** 70n,
      call: () => 1,
      when: new Date(0),
      bytes: new Uint8Array(3),
      long: 'x'.repeat(20_000),
      list: Array.from({ length: 200 }, (_, index) => index),
      loop,
      [KEY]: `told ${KEY}`,
    });
    expect(copy).toMatchObject({
      nothing: null,
      big: '1180591620717411303424',
      when: '1970-01-01T00:00:00.000Z',
      bytes: '(3 bytes)',
      [MASK]: `told ${MASK}`,
    });
    expect(Object.keys(copy)).not.toContain('gone');
    expect(copy.call).toBeUndefined();
    expect(copy.long).toHaveLength(16_384 + '... (20000 characters)'.length);
    expect(copy.list).toHaveLength(101);
    expect(JSON.stringify(copy.loop)).toContain('"..."');
  });

  it('show errors with their stack, which is masked', () => {
    const copy = redactor.fields({ error: new Error(`bad ${KEY}`) });
    expect(copy.error).toMatch(/^Error: bad \[masked\]\n {4}at /);
  });
});
