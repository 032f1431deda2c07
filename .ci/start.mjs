// Starts a service, uses it and stops it: `node .ci/start.mjs NAME -- COMMAND ...`. Prints one
// line, which is a row of a table. The exit code is 1 when anything is wrong.
//
// The command must serve a new data directory on a free port and print its address. The time to the
// first answer is counted from HEDGEROW_CI_SINCE (epoch milliseconds), by default from the start of
// this script.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONGEST_MS = 600_000;
const [, , name, , ...command] = process.argv;
const since = Number(process.env.HEDGEROW_CI_SINCE ?? Date.now());
const dir = mkdtempSync(join(tmpdir(), 'hedgerow-start-'));
const key = 'hgr_ci-6Qm2vX8sTf1Lr9ZkWb4Ny7Hc3Jd5Pg0Ua';
const child = spawn(command[0], [...command.slice(1), '--port', '0', '--data', join(dir, 'data')], {
  env: { ...process.env, HEDGEROW_API_KEY: key, HEDGEROW_LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'pipe'],
  // A process group of its own: npm starts a shell, which starts the service, and all of them must
  // be stopped.
  detached: true,
});
let output = '';
for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
const exit = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);

try {
  const url = await listening();
  while ((await fetch(`${url}/health/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
  const seconds = ((Date.now() - since) / 1000).toFixed(1);
  const inserted = await ask(url, '/v1/hyperedges', { event_ts: 7, members: [3, 1, 2] });
  const found = await ask(url, '/v1/query', { query: 'MATCH (e:hyperedges) WHERE 2 IN e.members RETURN e.id, e.event_ts' });
  if (found.rows?.length !== 1 || found.rows[0].event_ts !== 7) throw new Error(`found ${JSON.stringify(found)}`);
  const range = await ask(url, '/v1/hyperedges?start_ts=0&end_ts=9');
  if (range.num_tuples !== 1) throw new Error(`a range gave ${JSON.stringify(range)} after ${JSON.stringify(inserted)}`);
  const { transport } = await ask(url, '/health');
  process.kill(-child.pid, 'SIGTERM');
  const code = await exit;
  // When npm runs a shell in between, the shell is ended by the signal and has no exit code of its
  // own.
  if (command[0] === process.execPath && code !== 0) throw new Error(`it ended with ${code}`);
  const which = transport === undefined ? '' : `, ${typeof transport === 'string' ? transport : transport.name}`;
  process.stdout.write(`${name}: first answer after ${seconds} s${which}\n`);
} catch (error) {
  process.stdout.write(`${name}: FAILED: ${error.message}\n${output.slice(-3000)}\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(timer);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

function listening() {
  return new Promise((resolve, reject) => {
    const look = setInterval(() => {
      const found = /listening on (http:\/\/\S+)/.exec(output);
      if (found === null) return;
      clearInterval(look);
      resolve(found[1]);
    }, 20);
    void exit.then((how) => {
      clearInterval(look);
      reject(new Error(`it ended (${how}) before it listened`));
    });
  });
}

async function ask(url, path, body) {
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
