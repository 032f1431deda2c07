import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HedgerowError } from '../../src/errors.ts';
import { post } from '../../src/llm/http-post.ts';
import { type ChatPorts, createChatModel } from '../../src/llm/index.ts';
import { CERT, KEY } from '../support/certificates.ts';
import { answering, completionJson, type ModelServer, startModelServer } from './model-server.ts';

const PROMPT = { system: 's', user: 'u' };

/**
 * Returns ports that make real connections. Each call of their resolver returns the next of
 * `answers`, or the last one when none is left.
 */
function ports(...answers: (readonly string[])[]): ChatPorts & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    post,
    async resolve(host) {
      asked.push(host);
      return answers[Math.min(asked.length, answers.length) - 1]!;
    },
  };
}

function modelAt(baseUrl: string, allowedHosts: readonly string[], given: ChatPorts) {
  return createChatModel({ baseUrl, model: 'm', apiKey: undefined, allowedHosts, timeoutMs: 10_000 }, given);
}

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: HedgerowError) => `${error.code}: ${error.message}`,
  );

/** Address of a listener. A real lookup of localhost never returns this address. */
const HIDDEN = '127.83.9.4';
let hidden: ModelServer;
let localhost: string;
beforeAll(async () => {
  hidden = await startModelServer({ good: answering(completionJson('found')) }, HIDDEN);
  localhost = `http://localhost:${hidden.port}/good`;
});
afterAll(() => hidden.close());

describe('a host name', () => {
  it('is looked up once, and the connection goes to the address that was checked', async () => {
    const given = ports([HIDDEN], ['127.0.0.1']);
    expect((await modelAt(localhost, ['localhost'], given).complete(PROMPT)).text).toBe('found');
    expect(given.asked).toEqual(['localhost']);
    expect(hidden.received.at(-1)!.headers.host).toBe(`localhost:${hidden.port}`);
  });

  it('is looked up again for every question, so that a changed address is checked again', async () => {
    const model = modelAt(localhost, ['localhost'], ports([HIDDEN], ['169.254.169.254']));
    expect((await model.complete(PROMPT)).text).toBe('found');
    const { made } = hidden.connections();
    expect(await messageOf(model.complete(PROMPT))).toMatch(/^invalid_model_address: /);
    expect(hidden.connections().made).toBe(made);
  });

  it('is reached at its second address if nobody listens at the first', async () => {
    const given = ports(['127.83.9.5', HIDDEN]);
    expect((await modelAt(localhost, ['localhost'], given).complete(PROMPT)).text).toBe('found');
  });

  it('is resolved by the system by default', async () => {
    const here = await startModelServer({ good: answering(completionJson('here')) });
    try {
      const options = { model: 'm', apiKey: undefined, allowedHosts: ['localhost', 'unknown.invalid'] };
      const model = createChatModel({ ...options, baseUrl: `http://localhost:${here.port}/good` });
      expect((await model.complete(PROMPT)).text).toBe('here');
      const unknown = createChatModel({ ...options, baseUrl: 'https://unknown.invalid/v1', timeoutMs: 5000 });
      expect(await messageOf(unknown.complete(PROMPT))).toMatch(/^model_failed: /);
    } finally {
      await here.close();
    }
  });

  it('gives a clear error if it is not found, has no address or is not resolved in time', async () => {
    const failing = (resolve: ChatPorts['resolve'], timeoutMs = 10_000) => {
      const options = { baseUrl: localhost, model: 'm', apiKey: undefined, allowedHosts: ['localhost'], timeoutMs };
      return createChatModel(options, { resolve, post }).complete(PROMPT);
    };
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    expect(await messageOf(failing(() => Promise.reject(notFound)))).toMatch(/address cannot be found/);
    expect(await messageOf(failing(async () => []))).toMatch(/address cannot be found/);
    expect(await messageOf(failing(() => new Promise(() => {}), 50))).toMatch(/did not answer within 0.05 s/);
    const controller = new AbortController();
    const leaving = createChatModel(
      { baseUrl: localhost, model: 'm', apiKey: undefined, allowedHosts: ['localhost'] },
      { resolve: () => new Promise(() => {}), post },
    ).complete(PROMPT, controller.signal);
    controller.abort(new Error('left'));
    await expect(leaving).rejects.toThrow('left');
  });
});

describe('a TLS connection', () => {
  const server = createServer({ cert: CERT, key: KEY }, (request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json').end(completionJson('in secret'));
  });
  let port: number;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('is refused with an untrusted certificate, even if an environment variable turns off the check', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const model = modelAt(`https://127.0.0.1:${port}/v1`, ['127.0.0.1'], ports());
      expect(await messageOf(model.complete(PROMPT))).toMatch(/^model_failed: .*no valid certificate/);
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it('is accepted with a certificate that the machine trusts, but only for its own host name', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hedgerow-llm-'));
    try {
      await writeFile(join(dir, 'ca.pem'), CERT);
      const script = `
        import { createChatModel } from './src/llm/index.ts';
        const ask = async (host, listed) => {
          const options = { baseUrl: 'https://' + host + ':${port}/v1', model: 'm', apiKey: undefined, allowedHosts: listed };
          try {
            return (await createChatModel(options).complete({ system: 's', user: 'u' })).text;
          } catch (error) {
            return error.message;
          }
        };
        const answers = [await ask('127.0.0.1', ['127.0.0.1']), await ask('localhost', ['localhost'])];
        process.stdout.write(JSON.stringify(answers));`;
      await writeFile(join(dir, 'ask.mts'), script.replace("'./src", `'${process.cwd()}/src`));
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem'), HTTPS_PROXY: 'http://127.0.0.1:1' };
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', join(dir, 'ask.mts')], {
        env,
      });
      expect(JSON.parse(stdout)).toEqual(['in secret', expect.stringMatching(/no valid certificate/)]);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
