// The firewall removes the sentences of an answer that the retrieved edges do not support. It keeps
// a sentence only if it cites edges, derived facts ("steps") or rules by tags and agrees with them.
//
// An answer passes through five stages. A sentence that fails a stage is stripped, with a reason.
//
// 1. sentences.ts cuts the answer into sentences. Questions without tags, and markup, state nothing
// and pass.
// 2. tags.ts cuts a sentence at its tags. There must be at least one tag, and each must name an
//    edge, step or rule that the answer may cite.
// 3. stretches.ts decides which part of the sentence belongs to which tags.
// 4. claims.ts finds the values that each part repeats (quotes, facts, times, numbers) and compares
//    them with the values of the part's tags (edge-values.ts).
// 5. together.ts requires that values stated about one event come from one cited edge or step.
//
// If no supported sentence is left, the answer becomes ABSTAINED_ANSWER. Example: in "Nodes 3 and 9
// met [HEDGE-1]. They are friends." only the first sentence is kept, and only if edge 1 has the
// members 3 and 9. All checks compare words and numbers with stored values; no model is asked.

import { finish, type Steps } from '../../schedule/steps.ts';
import { NAME_SHOWN, shownText } from '../stored-text.ts';
import { problemSteps, type SentenceSteps } from './claims.ts';
import { type Cited, once, type Support, type Values, valuesOf } from './edge-values.ts';
import { comparable, REORDERING, skeleton } from './lookalikes.ts';
import { factKey } from './predicate-claims.ts';
import { unescaped } from './quote-claims.ts';
import { blank } from './scan.ts';
import { type Sentence, sentenceSteps, sentencesOf } from './sentences.ts';
import { type Part, stretchesOf } from './stretches.ts';
import { cutAtTags, formatTag, hasTag, type Tag, type TaggedSentence } from './tags.ts';
import { mixtureProblem } from './together.ts';
import { storedTexts as storedTextsOf } from './told.ts';
import { valueTestOf } from './value-claims.ts';

export type { StepFacts, Support } from './edge-values.ts';

export const ABSTAINED_ANSWER = 'There is not enough evidence in the retrieved hyperedges to answer this.';

export interface FirewallResult {
  /** The kept sentences, with every tag in its exact spelling, or ABSTAINED_ANSWER. */
  answer: string;
  outcome: 'supported' | 'stripped' | 'abstained';
  abstained: boolean;
  /** Share of supported sentences among those that state something, or 0 if there are none. */
  coverage: number;
  supported_count: number;
  stripped_count: number;
  stripped: { sentence: string; reason: string }[];
  /** Ids of the edges that the kept sentences cite, in order of first mention. */
  citedEdges: number[];
}

/** Maximum number of characters of a sentence that is checked. A longer sentence is stripped. */
const LONGEST_SENTENCE = 20_000;
/** Number of characters that are processed between two yields, in about a millisecond. */
const STEP = 1024;
/** Each sentence counts as this number of additional characters, and each tag as `TAG_COST`. */
const SENTENCE_COST = 32;
const TAG_COST = 4;

/** Checks an answer without pausing. For long answers, such as a model's, use `firewallSteps`. */
export function firewall(answer: string, support: Support): FirewallResult {
  return finish(firewallSteps(answer, support));
}

/** A sentence with its verdict. The verdict is undefined if the sentence states nothing. */
export interface Judged {
  readonly sentence: Sentence;
  readonly text: string;
  readonly verdict: Verdict | undefined;
}

/** Yields the sentences with their verdicts, and undefined after about a millisecond of work. */
export function* judgedSentences(answer: string, support: Support): Generator<Judged | undefined, void, void> {
  const check = checkerOf(support);
  let unyielded = 0;
  for (const sentence of sentenceSteps(answer, knownTexts(support))) {
    if (sentence === undefined) {
      yield undefined;
      continue;
    }
    const text = answer.slice(sentence.start, sentence.end);
    unyielded += SENTENCE_COST + text.length;
    if (unyielded >= STEP) {
      unyielded = 0;
      yield undefined;
    }
    const statesNothing =
      sentence.kind === 'structure' || (sentence.kind === 'question' && !/hedge/.test(skeleton(text)));
    const verdict = statesNothing ? undefined : yield* check(text, sentence.beginsLine);
    unyielded += TAG_COST * (verdict?.tags.length ?? 0);
    yield { sentence, text, verdict };
  }
}

export function* firewallSteps(answer: string, support: Support): Steps<FirewallResult> {
  const kept: Pick<Judged, 'sentence' | 'text'>[] = [];
  const stripped: { sentence: string; reason: string }[] = [];
  const cited = new Set<number>();
  let supported = 0;
  for (const judged of judgedSentences(answer, support)) {
    if (judged === undefined) {
      yield;
      continue;
    }
    const { sentence, text, verdict } = judged;
    if (verdict === undefined) kept.push({ sentence, text });
    else if (verdict.problem !== undefined) stripped.push({ sentence: text, reason: verdict.problem });
    else if (!verdict.isBare) {
      // A sentence of tags alone states nothing: it neither counts nor is kept.
      supported++;
      kept.push({ sentence, text: verdict.spelled });
      for (const { kind, number } of verdict.tags) if (kind === 'HEDGE') cited.add(number);
    }
  }
  const abstained = supported === 0;
  const stays = stripped.length === 0 ? kept : kept.filter(({ sentence }) => sentence.kind !== 'structure');
  return {
    answer: abstained ? ABSTAINED_ANSWER : joined(answer, stays),
    outcome: abstained ? 'abstained' : stripped.length > 0 ? 'stripped' : 'supported',
    abstained,
    coverage: supported === 0 ? 0 : supported / (supported + stripped.length),
    supported_count: supported,
    stripped_count: stripped.length,
    stripped,
    citedEdges: [...cited],
  };
}

export interface Verdict {
  /** The reason why the sentence is stripped; undefined if it is kept. */
  problem: string | undefined;
  tags: readonly Tag[];
  /** The sentence with every tag in its exact spelling. */
  spelled: string;
  /** Whether the sentence consists of tags alone. */
  isBare: boolean;
}

function checkerOf(support: Support): (text: string, beginsLine: boolean) => SentenceSteps<Verdict> {
  const facts = once(() => new Set(Array.from(support.steps.values(), (step) => factKey(step.predicate, step.args))));
  const known = { derives: (key: string) => facts().has(key), isValue: valueTestOf(support), keyed: support.keyed };
  const echoes = echoesOf(support);
  const values = rememberedValues(support);
  return function* (text, beginsLine) {
    if (text.length > LONGEST_SENTENCE)
      return { problem: `it is longer than ${LONGEST_SENTENCE} characters`, tags: [], spelled: text, isBare: false };
    const cut = cutAtTags(text);
    const tags = cut.groups.flatMap((group) => group.tags);
    const problem =
      cut.problem ??
      tagProblem(text, tags, support) ??
      echoProblem(text, echoes) ??
      (yield* claimProblem(cut, tags, values, known, beginsLine));
    const isBare = !cut.texts.some((part) => /[\p{L}\p{N}]/u.test(part));
    return { problem, tags, spelled: problem === undefined ? cut.spelled() : text, isBare };
  };
}

/** Returns a cached `valuesOf`, because an answer cites the same group of tags repeatedly. */
function rememberedValues(support: Support): (tags: readonly Tag[]) => Values {
  const known = new Map<string, Values>();
  return (tags) => {
    if (tags.length > 64) return valuesOf(tags, support);
    const key = tags.map(formatTag).join('');
    const values = known.get(key) ?? valuesOf(tags, support);
    if (known.size === 64) known.clear();
    known.set(key, values);
    return values;
  };
}

function tagProblem(text: string, tags: readonly Tag[], support: Support): string | undefined {
  if (tags.length === 0) return 'it has no tag';
  if (REORDERING.test(text)) return 'it contains characters that reverse the order of display';
  const numbered = { HEDGE: support.edges, STEP: support.steps, RULE: support.rules };
  const unknown = tags.find(({ kind, number }) => !numbered[kind].has(number));
  return unknown && `${formatTag(unknown)} names nothing that this answer may cite`;
}

function* claimProblem(
  cut: TaggedSentence,
  tags: readonly Tag[],
  values: (tags: readonly Tag[]) => Values,
  known: Pick<Cited, 'derives' | 'isValue' | 'keyed'>,
  beginsLine: boolean,
): SentenceSteps<string | undefined> {
  const [first, ...others] = cut.texts as [string, ...string[]];
  const begins = beginsLine && cut.texts.some((text) => /\p{L}/u.test(text));
  const texts = [begins ? first.replace(LIST_MARK, blank) : first, ...others];
  if (/[\p{L}\p{N}]/u.test(texts[0]!) && LATER_CLAUSE.test(texts.at(-1)!))
    return 'what follows its last tag has no tag';
  const sentence = values(tags);
  const problemIn = function* ({ text, tags: own }: Part): SentenceSteps<string | undefined> {
    const cited: Cited = { beside: cut.groups.length === 1 ? sentence : values(own), sentence, ...known };
    return (yield* problemSteps(text, cited)) ?? mixtureProblem(text, own, cited, values);
  };
  for (const options of stretchesOf({ ...cut, texts })) {
    let problem: string | undefined;
    let isWrong = true;
    for (const parts of options) {
      const found = yield* firstProblem(parts, problemIn);
      problem ??= found;
      isWrong = found !== undefined;
      if (!isWrong) break;
    }
    if (isWrong) return problem;
  }
  return undefined;
}

/** Returns the first problem of several parts, or undefined if there is none. */
function* firstProblem(
  parts: readonly Part[],
  problemIn: (part: Part) => SentenceSteps<string | undefined>,
): SentenceSteps<string | undefined> {
  for (const part of parts) {
    const problem = yield* problemIn(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Matches an independent clause after the last tag. */
const LATER_CLAUSE = /^\s*[;\u2013\u2014\uff1b]\s*\p{L}[\p{L}\p{M}']*\s+\S+\s+\S/u;
/** Matches the mark of a list item, whose number is not a claim. */
const LIST_MARK = /^[\s>#\u2022\u2023\u25e6\u00b7*+\u2013\u2014_-]*\(?\d{1,3}[.)]\*{0,2}(?=\s)/;

/**
 * Returns a function that tests whether an edge, fact or rule contains a quoted text. A full stop
 * in such a text does not end a sentence.
 */
function knownTexts(support: Support): (quoted: string) => boolean {
  const spellings = (text: string) => [comparable(text), comparable(shownText(text))];
  const known = once(() => new Set(storedTexts(support).flatMap(spellings)));
  return (quoted) => known().has(comparable(unescaped(quoted)));
}

function storedTexts({ edges, steps, rules, names, keyed }: Support): string[] {
  return [
    ...(keyed === undefined ? [] : (names?.values() ?? [])),
    ...[...rules.values()].flatMap(({ name, text }) => [name, shownText(name, NAME_SHOWN), text]),
    ...[...edges.values()].flatMap(storedTextsOf),
    ...[...steps.values()].flatMap(({ args }) => args.filter((arg) => typeof arg === 'string')),
  ];
}

/**
 * Returns passages of stored texts that contain tags. A sentence that repeats such a passage is
 * stripped: its tags come from the author of the stored text and prove nothing.
 */
function echoesOf(support: Support): string[] {
  const passages = storedTexts(support)
    .filter(hasTag)
    .flatMap((text) => Array.from(sentencesOf(text), ({ start, end }) => text.slice(start, end)));
  return passages
    .filter((passage) => hasTag(passage) && passage.replace(/\P{L}/gu, '').length >= 16)
    .slice(0, 1000)
    .map((passage) => comparable(passage.slice(0, 2000)));
}

function echoProblem(text: string, echoes: readonly string[]): string | undefined {
  const plain = echoes.length === 0 ? '' : comparable(text);
  return echoes.some((echo) => plain.includes(echo)) ? 'it repeats a stored text that contains its tag' : undefined;
}

/** Joins the kept sentences, with a line break or a space where others were removed. */
function joined(answer: string, kept: readonly Pick<Judged, 'sentence' | 'text'>[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const [index, { sentence, text }] of kept.entries()) {
    if (index > 0) parts.push(between(answer.slice(end, sentence.start)));
    parts.push(text);
    end = sentence.end;
  }
  return parts.join('').trim();
}

function between(gap: string): string {
  if (!/[^\s]/.test(gap)) return gap;
  if (/\n[^\S\n]*\n/.test(gap)) return '\n\n';
  return /[\n\r\u2028\u2029]|<[^>]*>$/.test(gap) ? '\n' : ' ';
}
