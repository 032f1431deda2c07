// Runs the examples for LangChain.js and the Vercel AI SDK in the client's README, with the real
// packages and a service. The packages are not among those that tests install: they are taken from
// this repository or from the folder that HEDGEROW_AGENT_PACKAGES names
// (`npm install @langchain/core ai@5 zod` there). Where they are absent, the test is skipped and
// prints the reason.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { send, startServer } from '../http/support.ts';
import { blocksUnder } from '../support/readme-blocks.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = process.env.HEDGEROW_AGENT_PACKAGES;
const PLACES = [ROOT, ...(FOLDER === undefined ? [] : [resolve(FOLDER)])].map((place) => join(place, 'node_modules'));
/** The major version of the AI SDK whose stand-in for a model this test uses. */
const AI_MAJOR = '5';

/** Returns the folder of a package; undefined if it is not installed. */
function folderOf(name: string): string | undefined {
  return PLACES.map((place) => join(place, name)).find((path) => existsSync(join(path, 'package.json')));
}

function versionOf(name: string): string {
  return (JSON.parse(readFileSync(join(folderOf(name)!, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Returns why an example cannot run. */
function reasonToSkip(names: readonly string[]): string | undefined {
  const absent = names.filter((name) => folderOf(name) === undefined);
  if (absent.length > 0)
    return `not installed: ${absent.join(', ')} (HEDGEROW_AGENT_PACKAGES names a folder with them)`;
  if (!names.includes('ai') || versionOf('ai').startsWith(`${AI_MAJOR}.`)) return undefined;
  return `ai ${versionOf('ai')} is installed, the test knows ${AI_MAJOR}`;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Runs a program, with the packages and the built client, and returns the JSON that it prints. */
async function runExample(code: string, packages: readonly string[]): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-agent-'));
  closers.push(async () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['hedgerow', ...packages]) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(name === 'hedgerow' ? ROOT : folderOf(name)!, link);
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const file = join(folder, 'example.ts');
  writeFileSync(file, code);
  const flags = ['--import', pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file], { timeout: 60_000 });
  return JSON.parse(stdout);
}

/** Starts a service with two versions of a memory; returns the example with its address and key. */
async function exampleOf(heading: string): Promise<string> {
  const server = await startServer({ auth: true });
  closers.push(() => server.close());
  const key = server.keys.readwrite;
  const post = (path: string, body: object) => send(server, 'POST', `/v1/memory/${path}`, body, { 'x-api-key': key });
  const what = 'The budget of project Orion is 40,000 euros.';
  await post('remember', { what, who: ['Ada'], about: ['project Orion', 'budget'], when: '2024-05-02' });
  await post('supersede', { id: 1, what: what.replace('40,000', '55,000'), at: '2024-06-01' });
  const [code] = blocksUnder('src/client/README.md', heading, 'ts');
  return code!.replace('http://127.0.0.1:8000', server.url).replace('hgr_...', key);
}

const LANGCHAIN = ['@langchain/core'];
const AI = ['ai', 'zod'];

test.skipIf(reported('LangChain.js', LANGCHAIN))(
  'LangChain.js retrieves memories as documents',
  async () => {
    const code = `${await exampleOf('LangChain.js')}
const then = await new MemoryRetriever(client, { at: '2024-05-15' }).invoke('budget');
console.log(JSON.stringify([documents, then]));`;
    const [documents, then] = (await runExample(code, LANGCHAIN)) as { pageContent: string; metadata: object }[][];
    expect(documents).toMatchObject([
      {
        id: '2',
        pageContent: 'The budget of project Orion is 55,000 euros.',
        metadata: { who: ['Ada'], about: ['project Orion', 'budget'], end_ts: null },
      },
    ]);
    expect(then!.map(({ pageContent }) => pageContent)).toEqual(['The budget of project Orion is 40,000 euros.']);
  },
  90_000,
);

/** A model that asks the memory, remembers something, and then repeats what the tools have said. */
const MODEL = `
import { MockLanguageModelV2 } from 'ai/test';
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const call = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: 'tool-calls', usage, warnings: [],
});
let turn = 0;
const model = new MockLanguageModelV2({
  doGenerate: async ({ prompt }) => {
    turn += 1;
    if (turn === 1) return call('recall', { question: prompt.at(-1).content[0].text });
    if (turn === 2) return call('remember', { what: 'Somebody asked.', who: [], about: ['project Orion'] });
    const results = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
    return {
      content: [{ type: 'text', text: JSON.stringify(results.map(({ output }) => output.value)) }],
      finishReason: 'stop', usage, warnings: [],
    };
  },
});
`;

test.skipIf(reported('the Vercel AI SDK', AI))(
  'the AI SDK gives a model the memory as tools',
  async () => {
    const code = `${MODEL}${await exampleOf('Vercel AI SDK')}\nconsole.log(text);`;
    const [recalled, remembered] = (await runExample(code, AI)) as [{ memories: object[] }, object];
    expect(recalled.memories).toMatchObject([{ id: 2, what: 'The budget of project Orion is 55,000 euros.' }]);
    expect(remembered).toEqual({ id: 3 });
  },
  90_000,
);

/** Returns whether an example is skipped, after printing why. */
function reported(what: string, packages: readonly string[]): boolean {
  const reason = reasonToSkip(packages);
  if (reason !== undefined) console.log(`the example for ${what} skipped: ${reason}`);
  return reason !== undefined;
}
