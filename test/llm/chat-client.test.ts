import { type AddressInfo, createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { post } from '../../src/llm/http-post.ts';
import {
  type ChatOptions,
  type ChatPorts,
  type Completion,
  countTokens,
  createChatModel,
} from '../../src/llm/index.ts';
import { FAULTS, HEAD, KEY, raw, SLOW, withMessage } from './model-faults.ts';
import { answering, completionJson, type ModelServer, type Respond, startModelServer } from './model-server.ts';

const PROMPT = { system: 'Answer from the lines.', user: '[HEDGE-1] event_ts=5 members=[1, 2]\nWho met?' };
const MEGABYTE = 2 ** 20;

const echo: Respond = (response, socket, request) =>
  answering(
    completionJson(`Key ${KEY}, "${JSON.stringify(KEY)}", ${Buffer.from(`Bearer ${KEY}`).toString('base64')}.`, {
      model: request.headers.authorization,
    }),
  )(response, socket, request);

const GOOD: Readonly<Record<string, Respond>> = {
  good: answering(completionJson('Nodes 1 and 2 met [HEDGE-1].')),
  echo,
  'vendor-json': answering(completionJson('a'), { 'content-type': 'application/vnd.api+json; charset=utf-8' }),
  identity: answering(completionJson('a'), { 'content-encoding': 'identity' }),
  'byte-order-mark': answering(`\ufeff${completionJson('a')}`),
  parts: withMessage({
    content: [
      { type: 'text', text: 'Nodes 1 and 2 ' },
      { type: 'image_url', image_url: { url: 'x' } },
      { type: 'text', text: 'met.' },
    ],
  }),
  'content-null': withMessage({ content: null, refusal: 'no' }),
  'content-missing': withMessage({ role: 'assistant', tool_calls: [] }),
  'half-characters': withMessage({ content: 'a\ud800b' }),
  'wrong-usage': answering(
    completionJson('four little words here', { usage: { prompt_tokens: -1, completion_tokens: '9' } }),
  ),
  'no-usage': answering(completionJson('four little words here', { usage: null, model: undefined })),
  'huge-usage': answering(completionJson('', { usage: { prompt_tokens: 1e300, completion_tokens: 1.5 } })),
  'model-number': answering(completionJson('a', { model: 7 })),
  'model-with-lines': answering(completionJson('a', { model: 'x\r\ny' })),
  'in-pieces': (response) => {
    const bytes = Buffer.from(completionJson('Ü-Übung 東京 😀'));
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const byte of bytes) response.write(Buffer.from([byte]));
    response.end();
  },
  'hint-first': raw(
    'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
    `${HEAD}connection: close\r\n\r\n${completionJson('after hints')}`,
  ),
  'nearly-1-mb': answering(completionJson('x'.repeat(MEGABYTE - 1000))),
};

let server: ModelServer;
beforeAll(async () => {
  const faults = Object.fromEntries(Object.entries(FAULTS).map(([name, [respond]]) => [name, respond]));
  server = await startModelServer({ ...faults, ...SLOW, ...GOOD });
});
afterAll(() => server.close());

function modelAt(baseUrl: string, more: Partial<ChatOptions> = {}, ports?: ChatPorts) {
  const options = { baseUrl, model: 'asked-model', apiKey: KEY, allowedHosts: ['127.0.0.1', 'localhost'], ...more };
  return createChatModel(options, ports);
}

async function failureOf(work: Promise<unknown>): Promise<HedgerowError> {
  const thrown = await work.then(
    (value) => expect.fail(`it answered ${inspect(value)}`),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(HedgerowError);
  return thrown as HedgerowError;
}

/** Returns everything that a log line, an answer or a debugger could print about a value. */
function everythingOf(value: unknown): string {
  const { message, stack, cause } = value as Error;
  const shown = inspect(value, { depth: 20, showHidden: true, getters: true });
  return [shown, JSON.stringify(value), String(value), message, stack, inspect(cause), JSON.stringify(cause)].join(
    '\n',
  );
}

function expectNoKey(value: unknown): void {
  const text = everythingOf(value);
  for (const trace of ['canary', '0123456789', 'Y2FuYXJ5', 'NhbmFye', 'jYW5hcn']) expect(text).not.toContain(trace);
}

describe('a model that answers', () => {
  it('gets exactly one plain request', async () => {
    const before = server.received.length;
    const completion = await modelAt(server.at('good')).complete(PROMPT);
    expect(completion).toEqual({
      text: 'Nodes 1 and 2 met [HEDGE-1].',
      model: 'test-model-2026',
      promptTokens: 21,
      completionTokens: 4,
    });
    const [request, ...rest] = server.received.slice(before);
    expect(rest).toEqual([]);
    expect(request).toMatchObject({ method: 'POST', path: '/good/chat/completions' });
    expect(request!.headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(request!.body.length),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'hedgerow',
      authorization: `Bearer ${KEY}`,
    });
    expect(JSON.parse(request!.body)).toEqual({
      model: 'asked-model',
      messages: [
        { role: 'system', content: PROMPT.system },
        { role: 'user', content: PROMPT.user },
      ],
      temperature: 0,
      stream: false,
    });
  });

  it('gets no authorization header if there is no key', async () => {
    await modelAt(server.at('good'), { apiKey: undefined }).complete(PROMPT);
    expect(server.received.at(-1)!.headers.authorization).toBeUndefined();
    const failure = await failureOf(modelAt(server.at('status-401'), { apiKey: undefined }).complete(PROMPT));
    expect(failure.message).toMatch(/wants a key: send one with the request/);
  });

  it.each<[string, Partial<Completion>]>([
    ['vendor-json', { text: 'a' }],
    ['identity', { text: 'a' }],
    ['byte-order-mark', { text: 'a' }],
    ['parts', { text: 'Nodes 1 and 2 met.' }],
    ['content-null', { text: '', completionTokens: 4 }],
    ['content-missing', { text: '' }],
    ['half-characters', { text: 'a\ufffdb' }],
    ['wrong-usage', { promptTokens: countTokens(PROMPT.system) + countTokens(PROMPT.user), completionTokens: 4 }],
    ['no-usage', { model: 'asked-model', completionTokens: 4 }],
    ['huge-usage', { promptTokens: countTokens(PROMPT.system) + countTokens(PROMPT.user), completionTokens: 0 }],
    ['model-number', { model: 'asked-model' }],
    ['model-with-lines', { model: 'asked-model' }],
    ['in-pieces', { text: 'Ü-Übung 東京 😀' }],
    ['hint-first', { text: 'after hints' }],
    ['nearly-1-mb', { text: 'x'.repeat(MEGABYTE - 1000) }],
  ])('may answer in an unusual but acceptable way: %s', async (name, expected) => {
    expect(await modelAt(server.at(name)).complete(PROMPT)).toMatchObject(expected);
  });

  it('cannot reveal the key in its answer', async () => {
    const completion = await modelAt(server.at('echo')).complete(PROMPT);
    expect(completion.text).toMatch(/^Key \[masked\], /);
    expect(completion.model).toBe('Bearer [masked]');
    expectNoKey(completion);
    expectNoKey(modelAt(server.at('echo')));
    expect(modelAt(server.at('echo'), { model: KEY }).name).toBe('[masked]');
  });

  it('gets only valid Unicode', async () => {
    await modelAt(server.at('good')).complete({ system: 'a\ud800', user: '\udc00😀' });
    expect(JSON.parse(server.received.at(-1)!.body).messages).toMatchObject([
      { content: 'a\ufffd' },
      { content: '\ufffd😀' },
    ]);
  });

  it('is not asked through a proxy from the environment variables', async () => {
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY'];
    for (const name of names) process.env[name] = 'http://127.0.0.1:1';
    try {
      expect((await modelAt(server.at('good')).complete(PROMPT)).completionTokens).toBe(4);
    } finally {
      for (const name of names) delete process.env[name];
    }
  });
});

describe('a model that fails', () => {
  it('is tested with more than 50 faults', () => {
    expect(Object.keys(FAULTS).length + Object.keys(SLOW).length).toBeGreaterThan(50);
  });

  it.each(Object.entries(FAULTS))('gives a clear error without the key: %s', async (name, [, sentence]) => {
    const before = server.received.length;
    const failure = await failureOf(modelAt(server.at(name)).complete(PROMPT));
    expect(failure).toMatchObject({ code: 'model_failed', status: 502 });
    expect(failure.message).toMatch(/^The language model /);
    expect(failure.message).toMatch(sentence);
    expect(failure.cause).toBeUndefined();
    expectNoKey(failure);
    // The request was sent once, and was not repeated or redirected.
    expect(server.received.length).toBe(before + 1);
  });

  it.each(Object.keys(SLOW))('gives a timeout if its answer is never complete: %s', async (name) => {
    const failure = await failureOf(modelAt(server.at(name), { timeoutMs: 150 }).complete(PROMPT));
    expect(failure.message).toMatch(/did not answer within 0.15 s; try again later/);
    expect(failure.code).toBe('model_failed');
    expectNoKey(failure);
  });

  it('gives a clear error if nobody listens at its address', async () => {
    const other = await startModelServer({});
    await other.close();
    const failure = await failureOf(modelAt(other.at('good')).complete(PROMPT));
    expect(failure.message).toMatch(/could not be reached/);
    expectNoKey(failure);
  });

  it('gives a clear error if it does not support TLS', async () => {
    const url = server.at('good').replace('http:', 'https:');
    const failure = await failureOf(modelAt(url).complete(PROMPT));
    expect(failure).toMatchObject({ code: 'model_failed' });
    expect(failure.message).toMatch(/did not answer over TLS/);
    expectNoKey(failure);
  });

  it('leaves no connection open', async () => {
    for (const name of ['status-500', 'endless-body', 'good', 'redirect-307', 'trickled-body'])
      await modelAt(server.at(name), { timeoutMs: 150 })
        .complete(PROMPT)
        .catch(() => {});
    await expect.poll(() => server.connections().open).toBe(0);
  });
});

describe('a caller that aborts', () => {
  it.each(Object.keys(SLOW))('is released at once with its own reason during the fault %s', async (name) => {
    const controller = new AbortController();
    const reason = new Error('the client is gone');
    const before = server.received.length;
    const work = modelAt(server.at(name)).complete(PROMPT, controller.signal);
    const thrown = work.catch((error: unknown) => error);
    await expect.poll(() => server.received.length).toBe(before + 1);
    controller.abort(reason);
    expect(await thrown).toBe(reason);
    await expect.poll(() => server.connections().open).toBe(0);
  });

  it('is released, and the connection is closed, even before the TLS handshake', async () => {
    const open = new Set<Socket>();
    const silent = createServer((socket) => {
      open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)));
      socket.resume();
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
      const controller = new AbortController();
      const reason = new Error('gone');
      const thrown = modelAt(url)
        .complete(PROMPT, controller.signal)
        .catch((error: unknown) => error);
      await expect.poll(() => open.size).toBe(1);
      controller.abort(reason);
      expect(await thrown).toBe(reason);
      await expect.poll(() => open.size).toBe(0);
      const failure = await failureOf(modelAt(url, { timeoutMs: 100 }).complete(PROMPT));
      expect(failure.message).toMatch(/did not answer within 0.1 s/);
      await expect.poll(() => open.size).toBe(0);
      // The function that posts requests must not leave a timer or request behind either.
      const origin = url.replace('/v1', '');
      const request = {
        origin,
        path: '/',
        headers: {},
        body: '',
        addresses: [],
        maxBytes: 1,
        signal: AbortSignal.timeout(50),
      };
      await expect(post(request, () => {})).rejects.toThrow();
    } finally {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => silent.close(resolve));
    }
  });

  it('causes no connection if it aborts before anything was sent', async () => {
    const { made } = server.connections();
    const reason = new Error('gone before');
    await expect(modelAt(server.at('good')).complete(PROMPT, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.connections().made).toBe(made);
  });

  it('still gets its answer if it aborts after the answer has arrived', async () => {
    const controller = new AbortController();
    const completion = await modelAt(server.at('good')).complete(PROMPT, controller.signal);
    controller.abort();
    expect(completion.completionTokens).toBe(4);
  });
});

describe('many requests at the same time', () => {
  it('each get their own answer or failure', async () => {
    const names = [
      'good',
      'status-500',
      'parts',
      'reset-mid-body',
      'no-answer',
      'content-null',
      'endless-body',
      'echo',
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 48 }, async (_, index) => {
        const name = names[index % names.length]!;
        const model = modelAt(server.at(name), { timeoutMs: name === 'no-answer' ? 200 : 20_000 });
        const outcome = await model.complete(PROMPT).then(
          ({ text }) => text,
          (error: HedgerowError) => error.message,
        );
        return [name, outcome] as const;
      }),
    );
    const kinds = new Map<string, Set<string>>();
    for (const [name, outcome] of outcomes) kinds.set(name, (kinds.get(name) ?? new Set()).add(outcome));
    expect([...kinds.keys()].sort()).toEqual([...names].sort());
    for (const [name, seen] of kinds) expect(seen.size, name).toBe(1);
    expect(kinds.get('good')).toEqual(new Set(['Nodes 1 and 2 met [HEDGE-1].']));
  });
});
