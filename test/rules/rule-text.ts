// A short text form of rules and facts for tests, which is parsed into their wire form.
//
//   rule:reach 0.9 priority=2 disabled: path(?X, ?Z) :- path(?X, ?Y), edge(?Y, ?Z), not blocked(?Z)
//
// The id is followed by the confidence, the priority and `disabled`, each of which is optional.
// Guards such as `?X != ?Z` are allowed among the premises. A predicate without arguments is
// written `p()`. Constants are JSON.

import type { Constant, Rule, WireAtom, WireCondition } from '../../src/rules/rule.ts';

/** A rule as it is written in requests: optional fields may be absent. */
export type WrittenRule = Pick<Rule, 'id' | 'if'> &
  Partial<Pick<Rule, 'enabled' | 'priority'>> & { readonly then: WireAtom & { readonly confidence?: number } };

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\?\w+|\w+|:-|[=!<>]+|[(),])/y;
const RULE = /^(rule:[\w.-]+)((?: [^:]+)?): (.*)$/s;

export function ruleOf(text: string): WrittenRule {
  const [, id, options, sentence] = RULE.exec(text) ?? fail(text);
  const tokens = tokensOf(sentence!);
  const head = atomOf(tokens);
  if (tokens.shift() !== ':-') fail(text);
  const body = [conditionOf(tokens)];
  while (tokens[0] === ',') {
    tokens.shift();
    body.push(conditionOf(tokens));
  }
  if (tokens.length > 0) fail(text);
  const given = optionsOf(options!.trim());
  const confidence = given.confidence === undefined ? {} : { confidence: given.confidence };
  return { id: id!, ...given.more, if: body, then: { ...head, ...confidence } };
}

/** Returns the facts of a text: atoms without variables, separated by commas. */
export function factsOf(text: string): WireAtom[] {
  const tokens = tokensOf(text);
  const facts = [atomOf(tokens)];
  while (tokens.shift() === ',') facts.push(atomOf(tokens));
  return facts;
}

function optionsOf(text: string): { confidence?: number; more: Pick<WrittenRule, 'enabled' | 'priority'> } {
  const options = text === '' ? [] : text.split(' ');
  const confidence = options.find((option) => /^\d/.test(option));
  const priority = options.find((option) => option.startsWith('priority='));
  const more = {
    ...(options.includes('disabled') ? { enabled: false } : {}),
    ...(priority === undefined ? {} : { priority: Number(priority.slice('priority='.length)) }),
  };
  if (options.some((option) => option !== confidence && option !== priority && option !== 'disabled')) fail(text);
  return confidence === undefined ? { more } : { confidence: Number(confidence), more };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let end = 0; end < text.trimEnd().length; end = TOKEN.lastIndex) {
    const token = TOKEN.exec(text);
    if (token === null) fail(text.slice(end));
    tokens.push(token![1]!);
  }
  return tokens;
}

function conditionOf(tokens: string[]): WireCondition {
  if (tokens[0] === 'not') {
    tokens.shift();
    return { not: atomOf(tokens) };
  }
  if (tokens[1] === '(') return atomOf(tokens);
  return { compare: [termOf(tokens), tokens.shift()!, termOf(tokens)] };
}

function atomOf(tokens: string[]): WireAtom {
  const pred = tokens.shift() ?? fail('the end');
  if (tokens.shift() !== '(') fail(pred);
  const args: Constant[] = [];
  while (tokens[0] !== ')') {
    if (args.length > 0 && tokens.shift() !== ',') fail(pred);
    args.push(termOf(tokens));
  }
  tokens.shift();
  return { pred, args };
}

function termOf(tokens: string[]): Constant {
  const token = tokens.shift() ?? fail('the end');
  return token.startsWith('?') ? token : (JSON.parse(token) as Constant);
}

function fail(text: string): never {
  throw new Error(`cannot be read: ${text}`);
}
