import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from './support.ts';

// Self-signed for 127.0.0.1, made for these tests alone, valid for a hundred years.
const CERT = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUNb3phJLXE+1zwkE+6OJhyeGTcscwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTE5NTg1OVoYDzIxMjYxMDI4
MTk1ODU5WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQwcUINQYx3WUVNPS2D8DnEuJiGCQDaJU9IfUzC6IYUys5xOuVlLFa0
LLAgnuRIVoaoh6VCOaLc/I4C/xipsJt3o2QwYjAdBgNVHQ4EFgQUGQRFtCMv4s5p
r9H7bbd2SQdBLRIwHwYDVR0jBBgwFoAUGQRFtCMv4s5pr9H7bbd2SQdBLRIwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IC56wlyXlxj2r9+zoD5jbuX2WkEsLpcSf3NODKr0rQ0AAiEAmd2LDH1dTkeKQepi
XNGUUSq3lwv09ZTh1mnriUNb9Ks=
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqRGlN5kWONpzh0+V
RN9L6tIJlYy6Hk9gZaG2NpPyGEGhRANCAAQwcUINQYx3WUVNPS2D8DnEuJiGCQDa
JU9IfUzC6IYUys5xOuVlLFa0LLAgnuRIVoaoh6VCOaLc/I4C/xipsJt3
-----END PRIVATE KEY-----
`;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-tls-'));
  await writeFile(join(dir, 'cert.pem'), CERT);
  await writeFile(join(dir, 'key.pem'), KEY);
  await writeFile(join(dir, 'text.pem'), 'no certificate');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const files = (certFile: string, keyFile: string) => ({ certFile: join(dir, certFile), keyFile: join(dir, keyFile) });

interface Received {
  status: number | undefined;
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
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('https', () => {
  test('serves small answers, bodies and streams', async () => {
    const server = await startServer({ tls: files('cert.pem', 'key.pem') });
    try {
      expect(await ask(server.url, 'GET', '/health/live')).toEqual({ status: 200, text: '{"status":"live"}' });
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

  test('is all that is spoken there: plain requests get no answer', async () => {
    const server = await startServer({ tls: files('cert.pem', 'key.pem') });
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
  ])('files that cannot be used stop the start, named: %s', async (_name, certFile, keyFile) => {
    await expect(startServer({ tls: files(certFile, keyFile) })).rejects.toThrow(
      /https cannot be served: .*pem and .*pem are no certificate and key in PEM form/,
    );
  });
});
