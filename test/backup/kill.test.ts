// Kills a process with `kill -9` at random moments while it writes and makes backups. A file with
// the final name of a backup is complete or absent, and the next backup removes leftovers.
// `HEDGEROW_BACKUP_KILLS=50` is the long form. Needs `dist/` (`npm run build`).

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Random } from '../support/random.ts';
import { addEdges, check, openSmall, removeDir, restore, rowTexts, temporaryDir } from './support.ts';

const KILLS = Number(process.env.HEDGEROW_BACKUP_KILLS ?? 4);
const SEED = Number(process.env.HEDGEROW_BACKUP_KILL_SEED ?? 1);
const FIRST_ROWS = 40_000;
/** Somewhat longer than a backup takes. */
const LONGEST_DELAY_MS = 900;
const BUILT = existsSync(new URL('../../dist/engine/backup/backups.js', import.meta.url));
const NAME = /^hedgerow-\d{8}T\d{6}Z-\d+\.tar\.gz$/;

interface Said {
  begun: number;
  /** The LSN of each backup, by path. */
  made: Map<string, number>;
}

test.skipIf(!BUILT)(
  `only complete backups have their final names after ${KILLS} kills`,
  async () => {
    const random = new Random(SEED);
    const seen = { inBackup: 0, leftOver: 0, made: 0, unsaid: 0, restored: 0 };
    const home = temporaryDir();
    const [dir, backupDir] = [`${home}/db`, `${home}/backups`];
    const first = await openSmall(dir, { segmentRows: 2000 });
    await addEdges(first.table(), FIRST_ROWS);
    await first.compact({});
    await first.close();
    for (let kill = 0; kill < KILLS; kill++) {
      const said = await backUpAndKill(dir, backupDir, random);
      const names = existsSync(backupDir) ? readdirSync(backupDir) : [];
      const archives = names.filter((name) => NAME.test(name));
      const others = names.filter((name) => !NAME.test(name));
      if (said.begun > said.made.size) seen.inBackup++;
      // At most one, because the next backup removes what the previous kill left.
      expect(others.length).toBeLessThanOrEqual(1);
      if (others.length > 0) seen.leftOver++;
      for (const path of said.made.keys()) expect(existsSync(path), path).toBe(true);
      for (const name of archives) {
        const path = `${backupDir}/${name}`;
        const { facts } = await check(path);
        expect(name).toContain(`-${facts.lsn}.tar.gz`);
        if (said.made.has(path)) expect(facts.lsn).toBe(said.made.get(path));
        else seen.unsaid++;
        seen.made++;
      }
      if (kill % 5 === 0 && archives.length > 0) {
        await expectSameRows(dir, `${backupDir}/${archives.at(-1)!}`, `${home}/copy`);
        seen.restored++;
      }
      for (const name of archives) rmSync(`${backupDir}/${name}`);
    }
    const last = await openSmall(dir);
    const { path } = await last.backup({ dir: backupDir, compactFirst: false });
    await last.close();
    expect(readdirSync(backupDir)).toEqual([path.slice(backupDir.length + 1)]);
    removeDir(home);
    if (KILLS > 20) console.log(seen);
    expect(seen.inBackup).toBeGreaterThan(0);
    if (KILLS > 20) expect(seen.leftOver).toBeGreaterThan(KILLS / 5);
  },
  60_000 + KILLS * 20_000,
);

/**
 * Nothing is ever deleted. Therefore the copy must contain exactly the original rows whose ids were
 * assigned before the backup.
 */
async function expectSameRows(dir: string, archive: string, copy: string): Promise<void> {
  await restore(archive, copy);
  const idOf = (line: string) => (JSON.parse(line) as { id: number }).id;
  const restored = await openSmall(copy);
  const found = rowTexts(restored.table());
  await restored.close();
  const original = await openSmall(dir);
  const rows = rowTexts(original.table());
  await original.close();
  removeDir(copy);
  const newest = found.reduce((id, line) => Math.max(id, idOf(line)), 0);
  expect(found.length).toBe(newest);
  expect(found).toEqual(rows.filter((line) => idOf(line) <= newest));
}

/** Starts backups in a process and kills it at a random moment after a backup has begun. */
function backUpAndKill(dir: string, backupDir: string, random: Random): Promise<Said> {
  const script = join(fileURLToPath(new URL('.', import.meta.url)), 'backer.mjs');
  const child = spawn(process.execPath, [script, dir, backupDir], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Said = { begun: 0, made: new Map() };
  let left = 1 + random.below(2);
  const delayMs = random.below(LONGEST_DELAY_MS);
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    let rest = '';
    child.stdout.on('data', (text) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const [what, lsn, path] = line.split(' ');
        if (what === 'made') said.made.set(path!, Number(lsn));
        if (what !== 'begin') continue;
        said.begun++;
        if (--left === 0) setTimeout(() => child.kill('SIGKILL'), delayMs);
      }
    });
    child.on('close', () => {
      if (child.signalCode === 'SIGKILL') resolve(said);
      else reject(new Error(`the process ended: ${errors}`));
    });
  });
}
