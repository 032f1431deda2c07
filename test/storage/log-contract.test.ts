// Runs the tests of the log contract on the log in files and on the log in memory.

import { inspectLogFile } from '../../src/storage/inspect-log.ts';
import { openLog } from '../../src/storage/log.ts';
import { listLogFiles } from '../../src/storage/log-file.ts';
import { crc32c } from '../support/crc32c.ts';
import { LogMemory } from '../support/memory-log.ts';
import { SimFs } from '../support/sim-fs.ts';
import { expectLogContract, type LogMedium } from './log-contract.ts';

const DIR = '/data';

function filesOn(fs: SimFs): LogMedium {
  return {
    open: (opening) => openLog({ ...opening, fs, dir: DIR, crc32c, fileBytes: 4096 + 4096 }),
    crash: () => filesOn(fs.crash()),
    kill: () => filesOn(fs.kill()),
    failOnce(code) {
      let failed = false;
      fs.schedule = ({ kind, path }) => {
        if (failed || (kind !== 'write' && kind !== 'datasync') || !/log-[0-9a-f]{16}$/.test(path)) return undefined;
        failed = true;
        return { code };
      };
    },
    setFull(isFull) {
      fs.schedule = ({ kind, path }) =>
        isFull && kind === 'open' && path.endsWith('log-spare') ? { code: 'ENOSPC' } : undefined;
    },
    damage(lsn) {
      for (const path of listLogFiles(fs, DIR)) {
        const frames = [...inspectLogFile(fs, path, crc32c)];
        const frame = frames.find(({ firstLsn, operations }) => firstLsn <= lsn && lsn < firstLsn + operations);
        if (frame === undefined) continue;
        fs.edit(path, (bytes) => {
          bytes[frame.offset + 45]! ^= 1;
        });
      }
    },
  };
}

function inMemory(memory: LogMemory): LogMedium {
  return {
    open: memory.open,
    crash: () => inMemory(memory.crash()),
    kill: () => inMemory(memory.kill()),
    failOnce: (code) => memory.failAfter(0, code),
    setFull(isFull) {
      memory.limitBytes = isFull ? 0 : Infinity;
    },
    damage: (lsn) => memory.damage(lsn),
  };
}

expectLogContract('a log in files', () => filesOn(new SimFs(1)));
expectLogContract('a log in memory', () => inMemory(new LogMemory()));
