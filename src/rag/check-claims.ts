// Uses the firewall, which also checks answers, to check texts from clients. Gives a verdict on
// each sentence, or on each claim, by comparing it with given edges.

import type { Steps } from '../schedule/steps.ts';
import { comparesSomething } from './firewall/compared.ts';
import { type Judged, judgedSentences, type Support } from './firewall/firewall.ts';
import { sentencesOf } from './firewall/sentences.ts';
import { formatTag, hasTag } from './firewall/tags.ts';

/** The verdict on one sentence or claim. */
export interface ClaimVerdict {
  text: string;
  supported: boolean;
  /** The reasons why the text is not supported; empty if it is supported. */
  reasons: string[];
  /** Tags of the edges, facts and rules that the text was checked against. */
  tags: string[];
}

export interface CheckResult {
  /** Verdicts in the order of the sentences or claims. */
  results: ClaimVerdict[];
  /** Number of sentences or claims that are supported. */
  supported: number;
  total: number;
}

const STATES_NOTHING = 'it states nothing';
const NOT_COMPARABLE = 'nothing in it can be compared with the edges';

/**
 * Checks each sentence that states something against the edges, facts and rules that its tags cite.
 * Answers are checked in the same way.
 */
export function* checkText(text: string, support: Support): Steps<CheckResult> {
  const results: ClaimVerdict[] = [];
  for (const judged of judgedSentences(text, support)) {
    if (judged === undefined) yield;
    else if (judged.verdict !== undefined && !judged.verdict.isBare) results.push(verdictOf(judged.text, [judged]));
  }
  return counted(results);
}

/**
 * Returns one verdict per claim, even if a claim has several sentences. A claim without a tag is
 * checked against all edges. A claim is supported only if each of its sentences repeats something
 * that the edges contain: one in which nothing can be compared is neither right nor wrong.
 */
export function* checkClaims(claims: readonly string[], support: Support): Steps<CheckResult> {
  const every = [...support.edges.keys()].map((number) => formatTag({ kind: 'HEDGE', number })).join(' ');
  const results: ClaimVerdict[] = [];
  for (const claim of claims) {
    const tagged = hasTag(claim)
      ? [claim]
      : [...sentencesOf(claim)].map(({ start, end, kind }) =>
          kind === 'stating' ? withTags(claim.slice(start, end), every) : claim.slice(start, end),
        );
    const judged: Judged[] = [];
    for (const text of tagged) {
      for (const one of judgedSentences(text, support)) {
        if (one === undefined) yield;
        else if (one.verdict !== undefined && !one.verdict.isBare) judged.push(withComparison(one, support));
      }
    }
    results.push(verdictOf(claim, judged));
    yield;
  }
  return counted(results);
}

function withComparison(judged: Judged, support: Support): Judged {
  const { verdict, text } = judged;
  if (verdict === undefined || verdict.problem !== undefined || comparesSomething(text, verdict.tags, support))
    return judged;
  return { ...judged, verdict: { ...verdict, problem: NOT_COMPARABLE } };
}

/** Inserts the tags before the full stop of a sentence, where answers have them. */
function withTags(sentence: string, tags: string): string {
  if (tags === '') return sentence;
  const stop = /[.!\u2026\u3002]*$/.exec(sentence)!;
  return `${sentence.slice(0, stop.index)} ${tags}${stop[0] || '.'}`;
}

function verdictOf(text: string, judged: readonly Judged[]): ClaimVerdict {
  const reasons = judged.flatMap(({ verdict }) => verdict?.problem ?? []);
  const tags = judged.flatMap(({ verdict }) => verdict!.tags.map((tag) => `${tag.kind}-${tag.number}`));
  if (judged.length === 0) reasons.push(STATES_NOTHING);
  return { text, supported: reasons.length === 0, reasons: [...new Set(reasons)], tags: [...new Set(tags)] };
}

function counted(results: ClaimVerdict[]): CheckResult {
  return { results, supported: results.filter(({ supported }) => supported).length, total: results.length };
}
