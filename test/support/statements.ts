// Creates the statements service of a test server's database.

import { randomBytes } from 'node:crypto';
import type { Database } from '../../src/engine/index.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

export function statementsOf(database: Database, copyRoot?: string): Statements {
  return new Statements({
    database,
    now: () => Date.now(),
    nowUs: () => performance.now() * 1000,
    newId: () => randomBytes(9).toString('base64url'),
    transactionIdleSeconds: 30,
    copyRoot,
    fs: nodeFs,
  });
}
