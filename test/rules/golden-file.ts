// Reads and writes golden files of rules: given facts and rules, then the derived facts and the
// strata, or the reason why the rules are refused.
//
// Cases are separated by blank lines; `#` begins a comment. A case has these lines:
//   case NAME
//   facts: edge(1, 2), edge(2, 3)          any number of such lines
//   rule:a 0.9: path(?X, ?Y) :- edge(?X, ?Y)   in the form of rule-text.ts
//   ----
//   path(1, 2) 0.9                         every derived fact in order, with its confidence
//   strata: rule:a=0                       the stratum of every rule, in the order above
// If the rules are refused, the lines after the divider are `error:` and the message.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WireAtom } from '../../src/rules/rule.ts';
import { factsOf, ruleOf, type WrittenRule } from './rule-text.ts';

export interface GoldenCase {
  readonly file: string;
  readonly name: string;
  /** Everything above the divider, unchanged. */
  readonly head: string;
  readonly facts: readonly WireAtom[];
  readonly rules: readonly WrittenRule[];
  readonly answer: readonly string[];
}

/** A case, or the unchanged text between cases. */
export type GoldenPart = GoldenCase | string;

const FOLDER = fileURLToPath(new URL('golden/', import.meta.url));

export function goldenPath(name: string): string {
  return `${FOLDER}${name}`;
}

export function goldenNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.txt'))
    .sort();
}

export function readGolden(file: string): GoldenPart[] {
  const blocks = readFileSync(goldenPath(file), 'utf8').trimEnd().split(/\n\n+/);
  return blocks.map((block) => (block.startsWith('case ') ? caseOf(block, file) : remarkOf(block, file)));
}

/** Returns every case in every file. */
export function goldenCases(): GoldenCase[] {
  return goldenNames()
    .flatMap(readGolden)
    .filter((part) => typeof part !== 'string');
}

function remarkOf(block: string, file: string): string {
  if (block.split('\n').every((line) => line.startsWith('#'))) return block;
  throw new Error(`${file}: neither a remark nor a case: ${block}`);
}

function caseOf(block: string, file: string): GoldenCase {
  const lines = block.split('\n');
  const divider = lines.indexOf('----');
  if (divider < 0) throw new Error(`${file}: a case without a divider: ${block}`);
  const facts: WireAtom[] = [];
  const rules: WrittenRule[] = [];
  for (const line of lines.slice(1, divider)) {
    if (line.startsWith('facts: ')) facts.push(...factsOf(line.slice('facts: '.length)));
    else if (line.startsWith('rule:')) rules.push(ruleOf(line));
    else if (!line.startsWith('#')) throw new Error(`${file}: neither facts nor a rule: ${line}`);
  }
  const head = lines.slice(0, divider).join('\n');
  const name = lines[0]!.slice('case '.length);
  return { file, name, head, facts, rules, answer: lines.slice(divider + 1) };
}

/** Returns the text of a file with new answers. */
export function goldenText(parts: readonly GoldenPart[], answers: ReadonlyMap<GoldenCase, readonly string[]>): string {
  const texts = parts.map((part) =>
    typeof part === 'string' ? part : [part.head, '----', ...(answers.get(part) ?? part.answer)].join('\n'),
  );
  return `${texts.join('\n\n')}\n`;
}
