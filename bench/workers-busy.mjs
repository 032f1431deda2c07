// Child process of workers.ts: repeats heavy statements, all measures and an export until its
// standard input ends, then prints how many of each have finished. Arguments: the address of the
// service, the number of statements at a time.

const [url, heavy] = process.argv.slice(2);
const finished = { statements: 0, measures: 0, exports: 0 };
let isOver = false;

const post = (path, body) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function repeat(name, work) {
  while (!isOver) {
    const answer = await work();
    for await (const _piece of answer.body) if (isOver) break;
    // A measure may need parameters, or refuse so large a table; its time limit may end it.
    if (answer.status === 500) throw new Error(`${name}: ${answer.status}`);
    if (!isOver) finished[name]++;
  }
}

const query = 'MATCH (e:hyperedges) RETURN e.event_ts % 1009, count(*), max(e.id) ORDER BY count(*) DESC LIMIT 5';
const all = `${url}/v1/hyperedges?start_ts=0&end_ts=${Number.MAX_SAFE_INTEGER}`;
const measures = await (await fetch(`${url}/v1/analytics`)).json();
let next = 0;
const measure = () => post(`/v1/analytics/hyperedges/${measures[next++ % measures.length].name}`, { params: {} });
const busy = [
  ...Array.from({ length: Number(heavy) }, () => repeat('statements', () => post('/v1/query', { query }))),
  repeat('measures', measure),
  repeat('exports', () => fetch(all, { headers: { accept: 'application/x-ndjson' } })),
];
process.stdin.resume().once('end', () => {
  isOver = true;
});
await Promise.all(busy);
console.log(JSON.stringify(finished));
process.exit(0);
