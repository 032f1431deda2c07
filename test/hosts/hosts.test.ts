// Runs the host vectors on the core in Node, in a browser, and in C without a WebAssembly engine.
// The results must be the same. A host that is not installed is skipped with a printed reason.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WRITE_GOLDEN } from '../support/golden.ts';
import { cProgram } from './c-program.ts';
import { runVectors } from './run-vectors.js';
import { type Step, vectorsText } from './vectors.ts';

const run = promisify(execFile);
const here = (name: string) => new URL(name, import.meta.url);
const wasm = (name: string) => new Uint8Array(readFileSync(here(`../../build/${name}`)));
const vectors = () => JSON.parse(readFileSync(here('vectors.json'), 'utf8')) as Step[];

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const WABT_RUNTIME = ['/usr/share/wabt/wasm2c', '/usr/src/wasm2c', '/usr/local/share/wabt/wasm2c'].find((path) =>
  existsSync(join(path, 'wasm-rt-impl.c')),
);

function hasCommand(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Runs the test of one host, or skips it and prints the reason. */
function host(name: string, missing: string | false, body: () => Promise<void>): void {
  if (missing) console.log(`hosts: ${name} skipped: ${missing}`);
  it.skipIf(missing)(name, { timeout: 120_000 }, body);
}

/** Returns a self-contained page that runs the vectors and writes the outcome into its body. */
function page(core: Uint8Array): string {
  const script = readFileSync(here('run-vectors.js'), 'utf8').replace('export async', 'async');
  return `<!doctype html><meta charset="utf-8"><body>running</body><script type="module">
${script}
const core = Uint8Array.from(atob('${Buffer.from(core).toString('base64')}'), (char) => char.charCodeAt(0));
const steps = ${JSON.stringify(vectors())};
runVectors(core, steps).then(
  (failures) => (document.body.textContent = failures.length === 0 ? \`all \${steps.length} steps right\` : failures.join('; ')),
  (error) => (document.body.textContent = String(error)),
);
</script>`;
}

describe('the host vectors', () => {
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hedgerow-hosts-'));
    if (WRITE_GOLDEN) writeFileSync(here('vectors.json'), vectorsText());
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  it('are those that vectors.ts generates', () => {
    expect(readFileSync(here('vectors.json'), 'utf8')).toBe(vectorsText());
  });

  it.each(['core.wasm', 'core.plain.wasm', 'core.debug.wasm'])('pass in Node with %s', async (file) => {
    expect(await runVectors(wasm(file), vectors())).toEqual([]);
  });

  it('fail when a result is wrong', async () => {
    const steps = vectors();
    const call = steps.find((step) => step.step === 'call' && step.name === 'hg_crc32c' && step.is !== undefined);
    if (call?.step === 'call') call.is = 1;
    const holds = steps.findLast((step) => step.step === 'holds' && step.hex !== '');
    if (holds?.step === 'holds') holds.hex = holds.hex.replace(/^../, '00');
    expect(await runVectors(wasm('core.wasm'), steps)).toHaveLength(2);
  });

  host('pass in headless Chromium', CHROMIUM ? false : 'no chromium in /usr/bin', async () => {
    const path = join(folder, 'vectors.html');
    writeFileSync(path, page(wasm('core.wasm')));
    const flags =
      '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';
    const profile = join(folder, 'profile');
    const { stdout } = await run(
      CHROMIUM!,
      [
        ...flags.split(' '),
        `--user-data-dir=${profile}`,
        '--virtual-time-budget=20000',
        '--dump-dom',
        `file://${path}`,
      ],
      {
        maxBuffer: 64 << 20,
        timeout: 60_000,
      },
    );
    expect(/<body>(.*?)<\/body>/s.exec(stdout)?.[1] ?? stdout.slice(0, 500)).toBe(
      `all ${vectors().length} steps right`,
    );
  });

  const noC = !hasCommand('wasm2c')
    ? 'no wasm2c (Debian package wabt)'
    : !hasCommand('gcc')
      ? 'no gcc'
      : !WABT_RUNTIME
        ? 'no wasm-rt-impl.c of wabt'
        : false;
  host('pass in C through wasm2c and gcc', noC, async () => {
    const core = new URL('../../build/core.plain.wasm', import.meta.url).pathname; // wasm2c does not support SIMD
    await run('wasm2c', [core, '-n', 'core', '-o', join(folder, 'core.c')]);
    writeFileSync(join(folder, 'steps.c'), cProgram(vectors()));
    const names = readFileSync(join(folder, 'core.h'), 'utf8').includes('w2c_core_hg_crc32c')
      ? ['-DWABT_NEW_NAMES']
      : [];
    const sources = [here('host.c').pathname, join(folder, 'core.c'), join(WABT_RUNTIME!, 'wasm-rt-impl.c')];
    await run('gcc', [
      '-O0',
      '-w',
      ...names,
      `-I${folder}`,
      `-I${WABT_RUNTIME}`,
      '-o',
      join(folder, 'host'),
      ...sources,
      '-lm',
    ]);
    const { stdout } = await run(join(folder, 'host'), []).catch((error: { stdout?: string }) => ({
      stdout: error.stdout ?? String(error),
    }));
    expect(stdout).toMatch(/^\d\d+ checks, 0 failures\n$/);
  });
});
