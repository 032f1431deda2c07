// Child process of restart.ts: opens a directory, reads one edge, and reports the time since the
// process began.

import { openDatabase } from 'hedgerow';

const database = await openDatabase({ dir: process.argv[2] });
const scan = database.table().scan({ format: 'json', limit: 1 });
if (scan.next() === null) throw new Error('the table is empty');
const ms = performance.now();
scan.close();
process.stdout.write(JSON.stringify({ ms, rows: database.health().total_records }));
await database.close();
