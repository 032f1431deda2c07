import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, getCiphers, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TLS_SUITES } from '../../src/http/tls-suites.ts';
import { CERT, KEY, RSA_CERT, RSA_KEY } from '../support/certificates.ts';
import { transportsHere } from '../support/transport.ts';
import { startServer } from './support.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-tls-'));
  await writeFile(join(dir, 'cert.pem'), CERT);
  await writeFile(join(dir, 'key.pem'), KEY);
  await writeFile(join(dir, 'rsa-cert.pem'), RSA_CERT);
  await writeFile(join(dir, 'rsa-key.pem'), RSA_KEY);
  await writeFile(join(dir, 'text.pem'), 'no certificate');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const files = (certFile: string, keyFile: string) => ({ certFile: join(dir, certFile), keyFile: join(dir, keyFile) });

interface Received {
  status: number | undefined;
  hsts?: string | string[] | undefined;
  text: string;
}

function ask(url: string, method: string, path: string, body = ''): Promise<Received> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const sent = request(url + path, { method, ca: CERT, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      const hsts = response.headers['strict-transport-security'];
      response.on('end', () => resolve({ status: response.statusCode, hsts, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/**
 * Returns the negotiated protocol and suite as `TLSv1.2 SUITE`, or undefined if the handshake
 * fails.
 */
function agreed(port: number, options: ConnectionOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => resolve(undefined));
  });
}

/** Every suite of TLS 1.2 and earlier in the TLS library of this Node. */
const OLDER_SUITES = getCiphers()
  .map((name) => name.toUpperCase())
  .filter((name) => !name.startsWith('TLS_'));
const WEAK = '@SECLEVEL=0';

describe.each(transportsHere())('https over %s', (transport) => {
  test.each([
    ['ECDSA', 'cert.pem', 'key.pem'],
    ['RSA', 'rsa-cert.pem', 'rsa-key.pem'],
  ])(
    'accepts only suites with forward secrecy and authenticated encryption, with an %s key',
    async (kind, cert, key) => {
      const server = await startServer({ transport, tls: files(cert, key) });
      try {
        const spoken: string[] = [];
        for (const suite of OLDER_SUITES) {
          const found = await agreed(server.port, {
            ciphers: `${suite}${WEAK}`,
            minVersion: 'TLSv1',
            maxVersion: 'TLSv1.2',
          });
          if (found !== undefined) spoken.push(found);
        }
        // Half of TLS_SUITES can be used with each type of key.
        const usable = TLS_SUITES.filter((suite) => suite.includes(`-${kind}-`)).map((suite) => `TLSv1.2 ${suite}`);
        expect(spoken.sort()).toEqual(usable.sort());
        expect(usable.length).toBe(3);
        for (const version of ['TLSv1', 'TLSv1.1'] as const)
          expect(
            await agreed(server.port, { ciphers: `ALL${WEAK}`, minVersion: version, maxVersion: version }),
            version,
          ).toBeUndefined();
        expect(await agreed(server.port, {})).toMatch(/^TLSv1\.3 TLS_(AES_(128|256)_GCM|CHACHA20_POLY1305)_SHA/);
      } finally {
        await server.close();
      }
    },
  );

  test('sends Strict-Transport-Security with every answer, but not without TLS', async () => {
    const server = await startServer({ transport, tls: files('cert.pem', 'key.pem') });
    const plain = await startServer({ transport });
    try {
      for (const path of ['/health/live', '/v1/hyperedges?start_ts=0&end_ts=1', '/', '/nope', '/v1/hyperedges'])
        expect([path, (await ask(server.url, 'GET', path)).hsts]).toEqual([path, 'max-age=31536000']);
      expect((await fetch(`${plain.url}/health/live`)).headers.get('strict-transport-security')).toBeNull();
    } finally {
      await server.close();
      await plain.close();
    }
  });

  test('serves small answers, bodies and streams', async () => {
    const server = await startServer({ transport, tls: files('cert.pem', 'key.pem') });
    try {
      expect(await ask(server.url, 'GET', '/health/live')).toMatchObject({ status: 200, text: '{"status":"live"}' });
      const operations = Array.from({ length: 20_000 }, (_, i) => ({
        type: 'insert',
        event_ts: i,
        members: [i, i + 1],
      }));
      const batch = await ask(server.url, 'POST', '/v1/batch', JSON.stringify({ operations }));
      expect(batch.status).toBe(200);
      const all = await ask(server.url, 'GET', '/v1/hyperedges?start_ts=0&end_ts=30000');
      expect(JSON.parse(all.text).num_tuples).toBe(20_000);
      expect(server.errors).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('does not answer plain HTTP requests on the same port', async () => {
    const server = await startServer({ transport, tls: files('cert.pem', 'key.pem') });
    try {
      await expect(fetch(`http://127.0.0.1:${server.port}/health/live`)).rejects.toThrow();
      expect((await ask(server.url, 'GET', '/health/live')).status).toBe(200);
    } finally {
      await server.close();
    }
  });

  test.each([
    ['no such certificate', 'nope.pem', 'key.pem'],
    ['no such key', 'cert.pem', 'nope.pem'],
    ['no certificate in it', 'text.pem', 'key.pem'],
    ['no key in it', 'cert.pem', 'text.pem'],
    ['exchanged', 'key.pem', 'cert.pem'],
  ])(
    'refuses to start and names the files when the certificate or key cannot be used: %s',
    async (_name, certFile, keyFile) => {
      await expect(startServer({ transport, tls: files(certFile, keyFile) })).rejects.toThrow(
        /https cannot be served: .*pem and .*pem are not a certificate and a key in PEM form/,
      );
    },
  );
});
