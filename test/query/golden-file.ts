// Reads and writes golden files of statements: what is set up, then each statement with its parameters and what it answers.
//
// A line `use NAME` takes the setup of NAME.txt; `setup {...}` is one step of it; `#` begins a remark. Cases stand between blank lines: the statement, perhaps
// `parameters {...}`, a line `----`, then each row as JSON, or `error: code line:column sentence`, and where it matters `plan: STRATEGY INDEX scanned/total`.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EdgeInput, TableInput } from '../../src/engine/types.ts';

export type SetupStep =
  | { readonly create: TableInput }
  | { readonly insert: string; readonly edges: readonly EdgeInput[] }
  | { readonly delete: string; readonly event_ts: number; readonly members: readonly number[] }
  | { readonly index: string; readonly column: string }
  | { readonly compact: true };

export interface GoldenCase {
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Lines that are answered. */
  readonly answer: readonly string[];
  /** The line of the plan is checked too. */
  readonly hasPlan: boolean;
}

export interface GoldenFile {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  /** Everything in order: cases, and what stands between them as it was written. */
  readonly parts: readonly (string | GoldenCase)[];
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
  for (const block of readFileSync(goldenPath(name), 'utf8').trimEnd().split(/\n\n+/)) {
    const lines = block.split('\n');
    const divider = lines.indexOf('----');
    if (divider >= 0) parts.push(caseOf(lines, divider));
    else {
      parts.push(block);
      for (const line of lines) setup.push(...stepsOf(line, name));
    }
  }
  return { name, setup, parts };
}

function caseOf(lines: readonly string[], divider: number): GoldenCase {
  const isParameters = (line: string) => line.startsWith('parameters ');
  const before = lines.slice(0, divider);
  const given = before.find(isParameters);
  const answer = lines.slice(divider + 1);
  return {
    text: before.filter((line) => !isParameters(line)).join('\n'),
    parameters: given === undefined ? {} : (JSON.parse(given.slice('parameters '.length)) as Record<string, unknown>),
    answer,
    hasPlan: answer.some((line) => line.startsWith('plan: ')),
  };
}

function stepsOf(line: string, name: string): readonly SetupStep[] {
  if (line.startsWith('setup ')) return [JSON.parse(line.slice('setup '.length)) as SetupStep];
  if (line.startsWith('use ')) return readGolden(`${line.slice('use '.length)}.txt`).setup;
  if (line.startsWith('#')) return [];
  throw new Error(`${name}: neither a remark, a setup nor a case: ${line}`);
}

/** The text of a file with other answers; `answers` by case. */
export function goldenText({ parts }: GoldenFile, answers: ReadonlyMap<GoldenCase, readonly string[]>): string {
  const blocks = parts.map((part) => {
    if (typeof part === 'string') return part;
    const given = Object.keys(part.parameters).length === 0 ? [] : [`parameters ${JSON.stringify(part.parameters)}`];
    return [part.text, ...given, '----', ...(answers.get(part) ?? part.answer)].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}
