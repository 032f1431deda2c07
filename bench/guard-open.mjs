// Child process of guard.ts: serves a data directory without keys, limits, logs or metrics.

import { openDatabase } from '../dist/engine/index.js';
import { startService } from '../dist/http/service.js';
import { SILENT } from '../dist/observe/log.js';
import { UNOBSERVED } from '../dist/observe/observer.js';
import { routes, routesApplication } from '../dist/routes/index.js';

const dir = process.argv[2];
const service = await startService({
  routes,
  application: routesApplication(),
  host: '127.0.0.1',
  port: 0,
  maxBodyBytes: 64 * 2 ** 20,
  version: 'bench',
  authDisabled: true,
  rateLimitQpm: 0,
  corsOrigins: [],
  queryTimeoutMs: 30_000,
  backupRoot: `${dir}/backups`,
  observer: UNOBSERVED,
  log: SILENT,
});
const database = await openDatabase({ dir });
service.open({ database });
console.log(`http://127.0.0.1:${service.port}`);

process.once('SIGTERM', async () => {
  await service.close();
  await database.close();
});
