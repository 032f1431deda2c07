import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { edgeLines, gzip, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

describe('an import into a running server', () => {
  let server: TestServer;

  afterEach(() => server.close());

  const send = (paths: string[], flags: Record<string, string | boolean> = {}): Promise<number> =>
    importCommand(paths, { url: server.url, ...flags }, world);

  test('sends rows in the order of the file, one body per batch', async () => {
    server = await startServer();
    world.file('edges.gz', gzip(edgeLines(2500)));
    expect(await send(['edges.gz'], { batch: '600' }), world.err).toBe(0);
    const rows = rowsOf(server.database.table());
    expect(rows.map((row) => [row.id, row.event_ts])).toEqual(rows.map((_, index) => [index + 1, index]));
    expect(world.out).toMatch(/^edges\.gz -> hyperedges: inserted 2500, rejected 0,/);
  });

  test('loses nothing over several connections and does not disturb other writers', async () => {
    server = await startServer();
    world.file('a.ndjson', edgeLines(5000));
    world.file('b.ndjson', edgeLines(5000, 5000));
    const flags = { batch: '250', connections: '3', onError: 'skip' };
    const single = server.database.table().insert({ event_ts: -1, members: [1] });
    expect(await Promise.all([send(['a.ndjson'], flags), send(['b.ndjson'], flags)])).toEqual([0, 0]);
    await single;
    const rows = rowsOf(server.database.table());
    expect(rows.map((row) => row.event_ts)).toEqual(Array.from({ length: 10_001 }, (_, index) => index - 1));
  });

  test('finds the lines that only the server refuses, and inserts the others', async () => {
    server = await startServer({ maxMembers: 4 });
    await server.database.createTable({ name: 'other', columns: [{ name: 'place', type: 'TEXT' }] });
    const good = edgeLines(40).trimEnd().split('\n');
    const bad = [
      '{"event_ts":1,"members":[1,2,3,4,5]}',
      '{"event_ts":1,"members":[1],"table":"other","place":7}',
      '{"event_ts":1,"members":[1],"table":"nowhere"}',
      '{"event_ts":1,"members":[1,2,3,4,5,6]}',
      'no json',
    ];
    world.file('mixed.ndjson', [...good.slice(0, 20), ...bad, '', ...good.slice(20), bad[0]].join('\n'));
    expect(await send(['mixed.ndjson'], { onError: 'skip', batch: '1000' }), world.err).toBe(0);
    const rejects = world.objects('mixed.ndjson.rejects.ndjson');
    expect(rejects.map((reject) => reject.line)).toEqual([21, 22, 23, 24, 25, 47]);
    expect(rejects[0].reason).toBe('members holds 5 distinct node ids; at most 4 are accepted.');
    expect(rejects[1].reason).toMatch(/^place must be a text/);
    expect(rejects[2].reason).toMatch(/^There is no table "nowhere"/);
    expect(rejects[3].reason).toBe('members holds 6 distinct node ids; at most 4 are accepted.');
    expect(server.database.table().rowCount).toBe(40);
  });

  test('inserts only the lines before the first refused one with --on-error stop', async () => {
    server = await startServer({ maxMembers: 4 });
    world.file('stops.ndjson', `${edgeLines(25)}{"event_ts":1,"members":[1,2,3,4,5]}\nno json\n${edgeLines(90, 100)}`);
    expect(await send(['stops.ndjson'], { batch: '40' })).toBe(1);
    expect(world.err).toMatch(/line 26 of .*at most 4 are accepted\. Stopped there/);
    expect(world.objects('stops.ndjson.rejects.ndjson').map((reject) => reject.line)).toEqual([26]);
    expect(server.database.table().rowCount).toBe(25);
  });

  test('sends smaller bodies to a server with a small body limit, and rejects a line over the limit', async () => {
    server = await startServer({ maxBodyBytes: 4096 });
    const long = `{"event_ts":1,"members":[${Array.from({ length: 3000 }, () => 1)}]}\n`;
    world.file('edges.ndjson', `${edgeLines(500)}${long}${edgeLines(500, 500)}`);
    expect(await send(['edges.ndjson'], { onError: 'skip' }), world.err).toBe(0);
    expect(server.database.table().rowCount).toBe(1000);
    expect(world.objects('edges.ndjson.rejects.ndjson')).toMatchObject([
      { line: 501, reason: expect.stringMatching(/larger than the limit/) },
    ]);
  });

  test('creates the table with --create-table and compacts it with --compact', async () => {
    server = await startServer();
    world.file('edges.ndjson', edgeLines(300));
    expect(await send(['edges.ndjson'], { table: 'calls' })).toBe(1);
    expect(world.err).toMatch(/There is no table calls at .*--create-table/);
    const flags = { table: 'calls', createTable: true, bucketSeconds: '60', compact: true };
    expect(await send(['edges.ndjson'], flags), world.err).toBe(0);
    expect(await send(['edges.ndjson'], flags), world.err).toBe(0);
    expect(server.database.table('calls').item()).toMatchObject({ bucket_seconds: 60, row_count: 600 });
    expect(server.database.table('calls').pending).toBe(0);
  });

  test('waits for a server that is still starting', async () => {
    server = await startServer({ open: false });
    world.file('edges.ndjson', edgeLines(10));
    const running = send(['edges.ndjson']);
    setTimeout(() => server.service.open({ database: server.database }), 300);
    expect(await running, world.err).toBe(0);
    expect(server.database.table().rowCount).toBe(10);
  });
});

describe('an import without a working server', () => {
  test('reports that nothing listens at the address, with advice', async () => {
    world.file('edges.ndjson', edgeLines(1));
    expect(await importCommand(['edges.ndjson'], { url: 'http://127.0.0.1:1' }, world)).toBe(1);
    expect(world.err).toMatch(/No answer from http:\/\/127\.0\.0\.1:1 .*hedgerow serve/);
  });

  test('reports that the address belongs to another kind of server', async () => {
    const server = await fakeServer((respond) => respond(200, undefined));
    world.file('edges.ndjson', edgeLines(1));
    expect(await importCommand(['edges.ndjson'], { url: server.url }, world)).toBe(1);
    expect(world.err).toMatch(/not a Hedgerow server/);
    server.close();
  });

  test('reports which lines may have been inserted when the connection breaks', async () => {
    let requests = 0;
    const server = await fakeServer((respond, destroy, path) => {
      if (path === '/v1/tables') respond(200, [{ name: 'hyperedges', primary: true, row_count: 0, columns: [] }]);
      else if (++requests < 3) respond(201, { inserted: 10 });
      else destroy();
    });
    world.file('edges.ndjson', edgeLines(100));
    expect(await importCommand(['edges.ndjson'], { url: server.url, batch: '10' }, world)).toBe(1);
    expect(world.err).toMatch(/not known whether lines 21 to 30 were inserted/);
    expect(world.out).toMatch(/inserted 20,/);
    server.close();
  });

  test('retries without inserting twice when a proxy has no server for a moment', async () => {
    let requests = 0;
    const server = await fakeServer((respond, _destroy, path) => {
      if (path === '/v1/tables') respond(200, [{ name: 'hyperedges', primary: true, row_count: 0, columns: [] }]);
      else if (++requests < 2) respond(502, undefined);
      else respond(201, { inserted: 5 });
    });
    world.file('edges.ndjson', edgeLines(5));
    expect(await importCommand(['edges.ndjson'], { url: server.url }, world), world.err).toBe(0);
    expect(world.out).toMatch(/inserted 5,/);
    expect(requests).toBe(2);
    server.close();
  });

  test('retries without inserting twice when the leader of a follower does not answer', async () => {
    const keys: unknown[] = [];
    const server = await fakeServer((respond, _destroy, path, headers) => {
      if (path === '/v1/tables')
        return respond(200, [{ name: 'hyperedges', primary: true, row_count: 0, columns: [] }]);
      keys.push(headers['idempotency-key']);
      if (keys.length < 2) respond(503, { detail: 'No answer.', code: 'leader_unavailable', status: 503 });
      else respond(201, { inserted: 5 });
    });
    world.file('edges.ndjson', edgeLines(5));
    expect(await importCommand(['edges.ndjson'], { url: server.url }, world), world.err).toBe(0);
    expect(keys).toEqual([expect.any(String), keys[0]]);
    server.close();
  });

  test('says where the leader is when a follower redirects it, and sends nothing there', async () => {
    const paths: string[] = [];
    const server = await fakeServer((respond, _destroy, path) => {
      paths.push(path);
      if (path === '/v1/tables')
        return respond(200, [{ name: 'hyperedges', primary: true, row_count: 0, columns: [] }]);
      const detail = 'This server follows http://leader.test:8000, which takes the writes. Send the request there.';
      respond(307, { detail, code: 'not_leader', status: 307 }, { location: '/elsewhere' });
    });
    world.file('edges.ndjson', edgeLines(5));
    expect(await importCommand(['edges.ndjson'], { url: server.url }, world)).toBe(1);
    expect(world.err).toMatch(/This server follows http:\/\/leader\.test:8000/);
    expect(paths).not.toContain('/elsewhere');
    server.close();
  });

  test("stops with the server's message when a refusal is not about one of the lines", async () => {
    const server = await fakeServer((respond, _destroy, path) => {
      if (path === '/v1/tables') respond(200, [{ name: 'hyperedges', primary: true, row_count: 0, columns: [] }]);
      else respond(507, { detail: 'The disk is full.', code: 'disk_full', status: 507 });
    });
    world.file('edges.ndjson', edgeLines(100));
    expect(await importCommand(['edges.ndjson'], { url: server.url, onError: 'skip' }, world)).toBe(1);
    expect(world.err).toMatch(/The disk is full\./);
    server.close();
  });
});

type Respond = (status: number, body: unknown, headers?: Record<string, string>) => void;

function fakeServer(
  handle: (respond: Respond, destroy: () => void, path: string, headers: IncomingHttpHeaders) => void,
) {
  return new Promise<{ url: string; close: () => Server }>((resolve) => {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const respond: Respond = (status, body, headers) => {
          response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
        };
        handle(respond, () => request.socket.destroy(), request.url!, request.headers);
      });
    }).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = () => {
        server.closeAllConnections();
        return server.close();
      };
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}
