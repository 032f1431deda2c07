// Reads and writes golden files of statements: the setup, then each statement with its parameters
// and its answer.
//
// A line `use NAME` applies the setup in NAME.txt, `setup {...}` is one setup step, and `#` begins
// a comment. Cases are separated by blank lines. A case consists of the statement, optionally a
// line `parameters {...}`, a line `----`, and the answer. The answer is each row as JSON, or
// `error: code line:column sentence`. Where it matters, a line `plan: STRATEGY INDEX scanned/total`
// follows.
//
// A block with a line `script NAME` begins a script. The cases of a script run one after the other
// in a world of their own, which the setup of the file and the `setup` lines of the block create. A
// file has either cases or scripts. In a script a case may also have these lines:
//   `session NAME`     the session that sends the statement; default `main`
//   `role NAME`        the caller's role; default `admin`
//   `later SECONDS`    advances the clock before the statement
// Instead of a statement, a case of a script may have `file NAME`. Its answer is then the lines of
// a file below the copy root, or `no file`. The setup of a script has two more kinds of steps:
//   {"file":NAME, and "text", "gzip" (text to compress), "base64" or "fixture" (a file of
//     test/fixtures)}                                       makes a file below the copy root
//   {"copyRoot":null}                                       turns COPY off
// In answers, the values of MASKED_NAMES (golden-script.ts) are replaced by "*", because they
// differ in every run.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EdgeInput, TableInput } from '../../src/engine/types.ts';
import type { HedgerowError } from '../../src/errors.ts';

export type SetupStep =
  | { readonly create: TableInput }
  | { readonly insert: string; readonly edges: readonly EdgeInput[] }
  | { readonly delete: string; readonly event_ts: number; readonly members: readonly number[] }
  | { readonly index: string; readonly column: string }
  | { readonly compact: true };

export type FileStep = { readonly file: string } & (
  | { readonly text: string }
  | { readonly gzip: string }
  | { readonly base64: string }
  | { readonly fixture: string }
);

export interface GoldenCase {
  /** Everything above the line `----`, unchanged. */
  readonly head: string;
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Expected lines of the answer. */
  readonly answer: readonly string[];
  /** Whether the plan line is checked too. */
  readonly hasPlan: boolean;
}

export interface ScriptStep extends GoldenCase {
  readonly session: string;
  readonly role: string;
  readonly seconds: number;
}

export interface GoldenScript {
  /** The block that begins the script, unchanged. */
  readonly head: string;
  readonly name: string;
  /** Steps applied after the setup of the file. */
  readonly setup: readonly (SetupStep | FileStep | { readonly copyRoot: null })[];
  readonly steps: ScriptStep[];
}

export interface GoldenFile {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  /** Everything above the scripts, in order: the cases, and the text between them unchanged. */
  readonly parts: readonly (string | GoldenCase)[];
  readonly scripts: readonly GoldenScript[];
}

const FOLDER = fileURLToPath(new URL('golden/', import.meta.url));

export function goldenPath(name: string): string {
  return `${FOLDER}${name}`;
}

export function goldenNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.txt'))
    .sort();
}

export function readGolden(name: string): GoldenFile {
  const setup: SetupStep[] = [];
  const parts: (string | GoldenCase)[] = [];
  const scripts: GoldenScript[] = [];
  for (const block of readFileSync(goldenPath(name), 'utf8').trimEnd().split(/\n\n+/)) {
    const lines = block.split('\n');
    const divider = lines.indexOf('----');
    if (divider >= 0) {
      const script = scripts.at(-1);
      if (script === undefined) parts.push(caseOf(lines, divider));
      else script.steps.push(stepOf(lines, divider, name));
    } else if (lines.some((line) => line.startsWith('script '))) scripts.push(scriptOf(block, name));
    else {
      if (scripts.length > 0) throw new Error(`${name}: neither a script nor a case: ${block}`);
      parts.push(block);
      for (const line of lines) setup.push(...stepsOf(line, name));
    }
  }
  return { name, setup, parts, scripts };
}

const OPTION = /^(parameters|session|role|later) /;

function caseOf(lines: readonly string[], divider: number): GoldenCase {
  const before = lines.slice(0, divider);
  const given = optionOf(before, 'parameters');
  const answer = lines.slice(divider + 1);
  return {
    head: before.join('\n'),
    text: before.filter((line) => !OPTION.test(line)).join('\n'),
    parameters: given === undefined ? {} : (JSON.parse(given) as Record<string, unknown>),
    answer,
    hasPlan: answer.some((line) => line.startsWith('plan: ')),
  };
}

function optionOf(lines: readonly string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

function stepOf(lines: readonly string[], divider: number, name: string): ScriptStep {
  const before = lines.slice(0, divider);
  const seconds = Number(optionOf(before, 'later') ?? 0);
  if (!(seconds >= 0)) throw new Error(`${name}: later takes a number of seconds: ${before.join(' ')}`);
  return {
    ...caseOf(lines, divider),
    session: optionOf(before, 'session') ?? 'main',
    role: optionOf(before, 'role') ?? 'admin',
    seconds,
  };
}

function scriptOf(head: string, name: string): GoldenScript {
  const lines = head.split('\n').filter((line) => !line.startsWith('#'));
  const [first, ...others] = lines;
  if (!first!.startsWith('script ')) throw new Error(`${name}: a script begins with its name: ${head}`);
  const setup = others.flatMap((line): GoldenScript['setup'] => stepsOf(line, name));
  return { head, name: first!.slice('script '.length), setup, steps: [] };
}

function stepsOf(line: string, name: string): readonly SetupStep[] {
  if (line.startsWith('setup ')) return [JSON.parse(line.slice('setup '.length)) as SetupStep];
  if (line.startsWith('use ')) return readGolden(`${line.slice('use '.length)}.txt`).setup;
  if (line.startsWith('#')) return [];
  throw new Error(`${name}: neither a remark, a setup nor a case: ${line}`);
}

/**
 * Returns the text of a file with new answers. `answers` maps cases to the lines of their answers.
 */
export function goldenText(
  { parts, scripts }: GoldenFile,
  answers: ReadonlyMap<GoldenCase, readonly string[]>,
): string {
  const caseText = (one: GoldenCase) => [one.head, '----', ...(answers.get(one) ?? one.answer)].join('\n');
  const blocks = parts.map((part) => (typeof part === 'string' ? part : caseText(part)));
  for (const { head, steps } of scripts) blocks.push(head, ...steps.map(caseText));
  return `${blocks.join('\n\n')}\n`;
}

/** Returns the answer line for a statement that is refused. */
export function errorLine({ code, message, fields }: HedgerowError): string {
  const { line, column } = (fields ?? {}) as { line?: number; column?: number };
  if (line === undefined || column === undefined) return `error: ${code} ${message}`;
  return `error: ${code} ${line}:${column} ${message.replace(/^Line \d+, column \d+: /, '')}`;
}
