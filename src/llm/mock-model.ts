// A language model that uses no network. It states the content of the first context lines of a
// prompt in plain sentences, and gives the same answer on every run.

import type { LanguageModel } from './chat.ts';
import { countTokens } from './tokens.ts';

const NAME = 'mock';
/** Maximum numbers of derived facts, of edges, and of members of an edge that are mentioned. */
const MOST_STEPS = 5;
const MOST_EDGES = 5;
const MOST_MEMBERS = 8;

// The forms of context lines: a tag at the start of the line, then fields in any order.
const EDGE_LINE = /^\[(HEDGE-\d{1,16})\] /;
const TIME = / event_ts=(-?\d{1,16})(?= |$)/;
const MEMBERS = / members=\[([-\d, ]{1,8192})\](?= |$)/;
/** Matches members of a named table: keys in quotation marks, and integers. */
const KEYS = / event_ts=-?\d{1,16} members=\[((?:(?:"(?:[^"\\]|\\.)*"|-?\d{1,16})(?:, )?){1,300})\](?= |$)/;
const WEIGHT = / weight=([-+.\de]{1,32})(?= |$)/;
/** Matches stored texts, which may contain anything. */
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|\\?$)/g;
const STEP_LINE = /^\[(STEP-\d{1,9})\] (.{1,400}) confidence=\S{1,32} by \[(RULE-\d{1,9})\]/;
/**
 * Matches numbers, simple strings and truth values only: other text could end the sentence or look
 * like a tag.
 */
const ARGUMENT = '(?:[-+.\\de]{1,32}|true|false|"[\\p{L}\\p{N} _-]{0,64}")';
const PLAIN_FACT = new RegExp(`^\\w{1,64}\\(${ARGUMENT}(?:, ${ARGUMENT}){0,7}\\)$`, 'u');

export function createMockModel(): LanguageModel {
  return {
    name: NAME,
    async complete({ system, user }, signal) {
      signal?.throwIfAborted();
      const text = answerTo(user);
      return {
        text,
        model: NAME,
        promptTokens: countTokens(system) + countTokens(user),
        completionTokens: countTokens(text),
      };
    },
  };
}

/** Returns an empty text if there is no context line. */
function answerTo(user: string): string {
  const lines = user.split('\n');
  return [...sentences(lines, stepSentence, MOST_STEPS), ...sentences(lines, edgeSentence, MOST_EDGES)].join('\n');
}

function sentences(lines: readonly string[], sentenceOf: (line: string) => string | undefined, most: number): string[] {
  const found: string[] = [];
  for (const line of lines) {
    const sentence = sentenceOf(line);
    if (sentence !== undefined) found.push(sentence);
    if (found.length === most) break;
  }
  return found;
}

function stepSentence(line: string): string | undefined {
  const [, tag, fact, ruleTag] = STEP_LINE.exec(line) ?? [];
  if (fact === undefined || !PLAIN_FACT.test(fact)) return undefined;
  return `It follows that ${fact} [${tag}] [${ruleTag}].`;
}

function edgeSentence(line: string): string | undefined {
  const tag = EDGE_LINE.exec(line)?.[1];
  if (tag === undefined) return undefined;
  const fields = line.replace(QUOTED, '""');
  const [time, members, weight] = [TIME, MEMBERS, WEIGHT].map((field) => field.exec(fields)?.[1]);
  const keys = members === undefined ? KEYS.exec(line)?.[1]?.match(/"(?:[^"\\]|\\.)*"|-?\d+/g) : undefined;
  const nodes = (keys ?? members?.match(/-?\d+/g) ?? []).slice(0, MOST_MEMBERS);
  if (time === undefined || nodes.length === 0) return undefined;
  const told = nodes.length === 1 ? `Node ${nodes[0]} was seen` : `Nodes ${listed(nodes)} met`;
  return `${told} at ${time}${weight === undefined ? '' : ` with weight ${weight}`} [${tag}].`;
}

/** Joins items as in `3, 9 and 12`. */
function listed(items: readonly string[]): string {
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
