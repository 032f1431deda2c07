// Opens a directory and carries out operations in several lanes until the process is killed or all
// operations are done. Prints `ready`, then the reports of operations.mjs, and finally `done`. The
// line `more <count>` on stdin starts that many further operations, and `close` ends the process.
//
// node writer.mjs '{"dir","expected","seed","lanes","operations","kinds","inline"?,"backups"}'
// `expected` is the file of the ledger.

import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { Draws } from './draws.mjs';
import { Ledger } from './ledger.mjs';
import { carryOut, openSmall, say } from './operations.mjs';

const task = JSON.parse(process.argv[2]);
const ledger = new Ledger(JSON.parse(readFileSync(task.expected, 'utf8')));
const random = new Draws(task.seed);
/** Number of consecutive draws of impossible operations after which a lane stops. */
const MOST_TRIES = 300;
let left = task.operations;

async function lane(database) {
  for (let tries = 0; left > 0 && tries < MOST_TRIES; tries++) {
    const operation = ledger.plan(random, task.kinds);
    if (operation === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      continue;
    }
    tries = 0;
    left--;
    await carryOut(database, ledger, operation, task.backups);
  }
}

const work = (database) => Promise.all(Array.from({ length: task.lanes }, () => lane(database)));

let database;
try {
  database = await openSmall(task.dir, { inline: task.inline ?? false });
} catch (error) {
  say(`closed ${error.code ?? error.name} ${String(error.message).replaceAll('\n', ' ')}`);
  process.exit(3);
}
say('ready');
await work(database);
say('done');
for await (const line of createInterface({ input: process.stdin })) {
  const [word, count] = line.split(' ');
  if (word === 'close') break;
  left = Number(count);
  await work(database);
  say('done');
}
try {
  await database.close();
  say('ended');
} catch (error) {
  say(`unclean ${error.code ?? error.name} ${error.message}`);
}
process.exit(0);
