// The shell command `.check`: it prints the verdicts of the firewall, which checks claims against
// edges, on a server and on a data directory.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shellCommand } from '../../src/cli/shell/command.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { fillFifty } from '../rag/fifty-world.ts';
import { stream, TestWorld } from './support.ts';

let server: TestServer;
let dir: string;
let world: TestWorld;
beforeAll(async () => {
  server = await startServer({ maxMembers: 255 });
  await fillFifty(server.database);
  dir = mkdtempSync(join(tmpdir(), 'hedgerow-check-'));
  const database = await openDatabase({ dir, maxMembers: 255, memoryBudgetMb: 64 });
  await fillFifty(database);
  await database.close();
});
afterAll(async () => {
  await server?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

describe.each(['a server', 'a directory'])('.check on %s', (place) => {
  async function checked(line: string): Promise<{ code: number; out: string; err: string }> {
    world.stdin = stream([`${line}\n`]);
    const code = await shellCommand(place === 'a server' ? { url: server.url } : { data: dir }, world);
    return { code, out: world.out, err: world.err };
  }

  test('reports that edges support the claims', async () => {
    const line = '.check calls Ada and Grace spoke for 12 minutes [HEDGE-1]. Ken spoke for 7 minutes [HEDGE-5].';
    expect(await checked(line)).toEqual({
      code: 0,
      err: '',
      out: 'supported: Ada and Grace spoke for 12 minutes [HEDGE-1].\nsupported: Ken spoke for 7 minutes [HEDGE-5].\n2 of 2 supported\n',
    });
  });

  test('reports that edges do not support a claim, and fails', async () => {
    const { code, out } = await checked('.check calls Ada and Grace spoke for 13 minutes [HEDGE-1].');
    expect(code).toBe(1);
    expect(out).toMatch(
      /^NOT supported: Ada and Grace spoke for 13 minutes \[HEDGE-1\]\.\n {2}\S.*13.*\n0 of 1 supported\n$/,
    );
  });

  test.each([
    ['.check', 'takes a table and a text'],
    ['.check calls', 'takes a table and a text'],
    ['.check calls It rained.', 'cites no edge'],
    ['.check nowhere It rained [HEDGE-1].', 'nowhere'],
  ])('reports what is missing in: %s', async (line, said) => {
    const { code, err } = await checked(line);
    expect(code).toBe(1);
    expect(err).toContain(said);
  });
});
