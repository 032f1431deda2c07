// Logs faster than standard error is read, and reports on standard output how many lines were lost.

import { openLog } from '../../dist/observe/log.js';

const opened = openLog({ format: 'json', level: 'info', now: () => new Date() });
const text = 'x'.repeat(1000);
let turns = 0;
const rounds = Number(process.argv[2]);
for (let round = 0; round < rounds; round++) {
  for (let count = 0; count < 500; count++) opened.log.serialised('info', 'filler', `,"text":"${text}"`);
  await new Promise((resolve) => setImmediate(resolve));
  turns += 1;
}
opened.log.error('the last line');
process.stdout.write(`${JSON.stringify({ turns, lost: opened.lost })}\n`);
if (process.argv[3] === 'throw') throw new Error('crash');
await opened.close();
process.stdout.write(`${JSON.stringify({ lost: opened.lost })}\n`);
