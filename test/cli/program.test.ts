import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Command } from '../../src/cli/command-line.ts';
import { EXAMPLES } from '../../src/cli/examples.ts';
import { buildProgram, runProgram } from '../../src/cli/program.ts';
import { urlOf } from '../../src/cli/server-address.ts';
import { UsageError } from '../../src/cli/world.ts';
import { TestWorld } from './support.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => {
  vi.restoreAllMocks();
  world.remove();
});

/** Captures what commander and the commands print. */
function quiet(): { text: () => string } {
  let text = '';
  const keep = (chunk: unknown): boolean => {
    text += String(chunk);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  return { text: () => text };
}

test.each([
  [['--help'], 0, /import .*inspect .*demo /s],
  [['help'], 0, /import .*inspect .*demo /s],
  [['help', 'import'], 0, /--on-error/],
  [['help', 'keys', 'create'], 0, /--expires-days/],
  [['help', 'nothing'], 2, /unknown command 'nothing'/],
  [['--version'], 0, /^9\.8\.7$/m],
  [['version'], 0, /^9\.8\.7$/m],
  [['version', 'x'], 2, /too many arguments/],
  [['import', '--help'], 0, /--on-error/],
  [['import'], 2, /import needs at least one FILE/],
  [['import', '--unknown', 'x'], 2, /unknown option '--unknown'/],
  [['nothing'], 2, /unknown command/],
  [['keys'], 2, /create .*revoke/s],
  [['import', '--on-error', 'maybe', '-'], 2, /takes stop or skip/],
  [
    ['import', 'test/cli/messy-csv/no-header.csv', '--no-header', '--columns', 'when,from,to,minutes'].concat([
      '--member-columns',
      'from,to',
      '--data',
      '/nowhere/db',
      '--table',
      'calls',
      '--create',
      '--dry-run',
    ]),
    0,
    /time: when .*property: minutes INTEGER/s,
  ],
  [['inspect', '/nowhere/at/all'], 1, /There is nothing at/],
  [['verify', '/nowhere/at/all'], 1, /not a data directory/],
  [['check-proof', '/nowhere/at/all'], 1, /There is no file/],
  [['virtual', 'create', '/nowhere/at/all'], 1, /There is no file/],
  [['serve', '--port', 'x'], 2, /--port is "x"/],
  [['config', 'print', '--durability', 'x'], 2, /--durability is "x"/],
  [['config', 'print', '--config', '/nowhere/at/all'], 1, /cannot be read/],
  [['demo', '--port', 'x'], 2, /--port is "x"/],
  [['query', 'SHOW TABLES', '--url', 'ftp://x'], 2, /--url is "ftp:\/\/x"/],
])('%j exits with %i', async (argv, exitCode, expected) => {
  const shown = quiet();
  expect(await runProgram(argv, '9.8.7')).toBe(exitCode);
  expect(shown.text()).toMatch(expected);
});

describe('help', () => {
  /** Returns every executable command with the words that call it. */
  function leaves(command: Command, path: string[] = []): [string, Command][] {
    if (command.commands.length === 0) return [[path.join(' '), command]];
    return command.commands.flatMap((inner) => leaves(inner, [...path, inner.name()]));
  }
  const program = () => buildProgram({ world, serverWorld: world, done: () => {} }, '9.8.7');

  test('shows the examples of every command, and every example belongs to a command', async () => {
    const commands = leaves(program());
    expect(commands.map(([path]) => path).sort()).toEqual(Object.keys(EXAMPLES).sort());
    for (const [path] of commands) {
      const shown = quiet();
      expect(await runProgram([...path.split(' '), '--help'], '9.8.7')).toBe(0);
      for (const example of EXAMPLES[path]!) expect(shown.text()).toContain(`\n  ${example}`);
      vi.restoreAllMocks();
    }
  });

  test('shows examples that the program accepts, with flags that exist', async () => {
    quiet();
    for (const [path, examples] of Object.entries(EXAMPLES)) {
      for (const example of examples) {
        const root = program();
        let called = '';
        for (const [name, command] of leaves(root)) {
          command.exitOverride().action(() => {
            called = name;
          });
        }
        await root.parseAsync(wordsOf(example), { from: 'user' });
        expect(called, example).toBe(path);
      }
    }
  });

  /** Returns the words after `hedgerow` in a shell line, without redirections and comments. */
  function wordsOf(line: string): string[] {
    const own = /hedgerow (.*)$/.exec(line.replace(/ {2,}.*$/, '').replace(/[)]$/, ''))![1]!;
    const words = own.match(/"[^"]*"|'[^']*'|\S+/g)!.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
    const end = words.findIndex((word) => ['|', '<', '>'].includes(word));
    return end < 0 ? words : words.slice(0, end);
  }

  test('explains each exit code', async () => {
    const shown = quiet();
    await runProgram(['--help'], '9.8.7');
    const codes = [...shown.text().matchAll(/^ {2}(\d+) +\S/gm)].map((match) => Number(match[1]));
    expect(codes).toEqual([0, 1, 2, 130, 143]);
  });
});

describe('a signal', () => {
  test('stops a statement with exit code 130, or 143 for SIGTERM', async () => {
    let asked: () => void = () => {};
    const silent = createServer(() => asked());
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const { port } = silent.address() as AddressInfo;
    try {
      for (const [signal, code] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const) {
        const arrived = new Promise<void>((resolve) => {
          asked = resolve;
        });
        world.signal = signal;
        const ended = runProgram(['query', 'SHOW TABLES', '--url', `127.0.0.1:${port}`], '9.8.7', world);
        await arrived;
        world.interrupt!();
        expect(await ended).toBe(code);
      }
    } finally {
      silent.closeAllConnections();
      await new Promise((closed) => silent.close(closed));
    }
  });

  test.each([
    ['query', '-'],
    ['shell'],
    ['virtual', 'query', 'calls', '-'],
    ['virtual', 'create', '-'],
    ['import', '-', '--data', 'db', '--format', 'ndjson'],
  ])('ends %s %s while it waits for stdin', async (...argv) => {
    world.stdin = new PassThrough();
    const ended = runProgram(argv, '9.8.7', world);
    await vi.waitUntil(() => world.interrupt !== undefined || world.err !== '', { timeout: 20_000 });
    expect(world.err).toBe('');
    world.interrupt!();
    expect(await ended).toBe(130);
    expect(world.err).toMatch(/^hedgerow: (cancelled|interrupted)[^\n]*\n$/);
  });

  test('shuts a server down cleanly with exit code 0', async () => {
    const argv = ['serve', '--data', world.path('db'), '--port', '0', '--log-level', 'error'];
    const ended = runProgram(argv, '9.8.7', world);
    await vi.waitUntil(() => world.out.includes('listening'), { timeout: 20_000 });
    world.interrupt!();
    expect(await ended).toBe(0);
  });
});

describe('the flag --url', () => {
  test.each([
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['https://graph.example/db/', 'https://graph.example/db'],
    ['localhost:8000', 'http://localhost:8000'],
    ['localhost:9000/', 'http://localhost:9000'],
    ['graph.example:80/db/', 'http://graph.example/db'],
    ['[::1]:8001', 'http://[::1]:8001'],
    ['10.0.0.7:8001', 'http://10.0.0.7:8001'],
  ])('accepts %s', (given, url) => {
    expect(urlOf(given)).toBe(url);
  });

  test.each([
    '',
    'localhost',
    ':8000',
    'localhost:',
    'localhost:port',
    'localhost:99999',
    'ftp://x',
    'a b',
    'http://',
    'a@b:80',
    'mailto:x',
  ])('refuses %j', (given) => {
    expect(() => urlOf(given)).toThrow(UsageError);
  });
});
