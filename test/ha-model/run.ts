// `npm run ha:model` searches all states of the high-availability protocol, checks that each of
// them recovers, and shows the shortest trace to each planted fault.

import { parseArgs } from 'node:util';
import { checkRecovery } from './liveness.ts';
import { haModel } from './model.ts';
import { HARMLESS, PLANTS, type Plants, STUCK } from './plants.ts';
import { search, VisitedStates } from './search.ts';

const { values: given } = parseArgs({
  options: {
    /** Number of requests, up to 4, and how often the lease may be taken, up to 7. */
    requests: { type: 'string', default: '2' },
    epochs: { type: 'string', default: '2' },
    /** Ends the search after this many states. */
    states: { type: 'string', default: '12000000' },
    /** Searches only the correct protocol. */
    brief: { type: 'boolean', default: false },
  },
});
const bounds = {
  requests: Array.from({ length: Number(given.requests) }, (_, index) => index + 1),
  epochs: Number(given.epochs),
};
const limits = { states: Number(given.states) };

let failed = !searchAll();
if (!given.brief) {
  for (const { plants, violates } of PLANTS) failed = !hunt(plants, violates) || failed;
  for (const plants of HARMLESS) failed = !hunt(plants, undefined) || failed;
  failed = !showStuck() || failed;
}
process.exitCode = failed ? 1 : 0;

/** Searches the correct protocol. */
function searchAll(): boolean {
  const started = Date.now();
  const model = haModel(bounds);
  const visited = new VisitedStates(model);
  const { violation, complete, ...counts } = search(model, limits, visited);
  console.log(
    `${given.requests} requests, ${given.epochs} epochs: ${counts.states} states, ${counts.transitions} steps, depth ` +
      `${counts.depth}, ${complete ? 'all' : 'NOT all'} visited, ${seconds(started)}, ${megabytes()}`,
  );
  if (violation !== undefined) console.log(`VIOLATED ${violation.what}\n${numbered(violation.trace.steps)}`);
  for (const [name, count] of Object.entries(model.met)) console.log(`  ${name}: premise met ${count} times`);
  if (violation !== undefined || !complete) return false;
  const checked = Date.now();
  const { recovered, longest, stuck } = checkRecovery(visited, model);
  console.log(`${recovered} states recover, the longest within ${longest} steps, ${seconds(checked)}, ${megabytes()}`);
  if (stuck !== undefined) console.log(`STUCK in state ${stuck.index}\n${numbered(stuck.steps.slice(0, 40))}`);
  return stuck === undefined;
}

/** Searches a changed protocol. Returns whether the search finds what it must. */
function hunt(plants: Plants, violates: string | undefined): boolean {
  const { violation, states, depth, complete } = search(haModel(bounds, plants), limits);
  console.log(`\n${Object.keys(plants).join(' + ')}: ${states} states, depth ${depth}`);
  if (violates === undefined) console.log(complete ? 'holds' : `WRONG: ${violation?.what}`);
  else console.log(violation === undefined ? 'NOT FOUND' : `violates ${violation.what}`);
  if (violation !== undefined) console.log(numbered(violation.trace.steps));
  return violates === undefined ? complete : (violation?.what.startsWith(`${violates}:`) ?? false);
}

function showStuck(): boolean {
  const model = haModel({ requests: [1], epochs: 2 }, STUCK);
  const visited = new VisitedStates(model);
  search(model, limits, visited);
  const { stuck } = checkRecovery(visited, model, STUCK);
  console.log(`\n${Object.keys(STUCK).join(' + ')}: ${stuck === undefined ? 'NOT FOUND' : 'does not recover'}`);
  return stuck !== undefined;
}

function numbered(steps: readonly string[]): string {
  return steps.map((step, index) => `  ${`${index + 1}`.padStart(2)}. ${step}`).join('\n');
}

function seconds(started: number): string {
  return `${((Date.now() - started) / 1000).toFixed(1)} s`;
}

function megabytes(): string {
  return `${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`;
}
