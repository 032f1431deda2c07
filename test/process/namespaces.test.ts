// Tests two writers on one directory. The second writer runs in its own PID namespace, where the
// PID of the first writer belongs to another process or to none.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { Ledger } from './ledger.mjs';
import { startWriter } from './spoken.ts';

const BUILT = existsSync(new URL('../../dist/main.js', import.meta.url));
const UNSHARE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const tried = spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), 'true'], { encoding: 'utf8' });
const allowed = tried.status === 0;
if (!allowed)
  console.log(`skipped: unshare may not make a PID namespace here: ${tried.error?.message ?? tried.stderr.trim()}`);

test.skipIf(!BUILT || !allowed)(
  'a second writer in another PID namespace is refused until the first writer is killed',
  { timeout: 120_000 },
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'hedgerow-namespaces-'));
    const task = { dir: `${home}/db`, backups: `${home}/backups`, expected: `${home}/expected.json`, lanes: 2 };
    const kinds = { insert: 10, transaction: 2, compact: 1 };
    const ledger = new Ledger();
    const first = startWriter({ ...task, seed: 1, operations: 60, kinds }, ledger);
    expect(await first.word('done')).toBe(true);

    const second = startWriter(
      { ...task, expected: `${home}/second.json`, seed: 2, operations: 1, kinds },
      new Ledger(),
      [...UNSHARE, process.execPath],
    );
    second.child.stdin!.end('close\n');
    await second.end;
    expect(second.words.map((word) => word.split(' ').slice(0, 2).join(' '))).toEqual(['closed conflict']);

    first.child.kill('SIGKILL');
    await first.end;
    const third = startWriter({ ...task, seed: 3, operations: 20, kinds }, ledger, [...UNSHARE, process.execPath]);
    expect(await third.word('done')).toBe(true);
    third.child.stdin!.end('close\n');
    await third.end;
    expect(third.refused).toEqual([]);
    await judge(task.dir, ledger, { compact: true });
    rmSync(home, { recursive: true });
  },
);
