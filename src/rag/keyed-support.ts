// Looks up which keys of a named table's nodes a text contains, for the firewall.

import { tidied } from '../model/fold-key.ts';
import { wellFormed } from '../model/text.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Keyed } from './firewall/key-claims.ts';
import { comparable, folded } from './firewall/lookalikes.ts';
import { wordsOf } from './question/words.ts';
import { mentionsIn } from './retrieval/key-mentions.ts';
import type { MemberKeys } from './retrieval/member-keys.ts';
import type { NodeFacts } from './retrieval/node-facts.ts';

/** Maximum number of different keys of a text that are compared with what it cites. */
const MOST_KEYS = 5000;

export function* keyedSupport(text: string, keys: MemberKeys, nodes: NodeFacts | undefined): Steps<Keyed> {
  const tidy = tidied(wellFormed(text));
  const spellings = new Map<string, string[]>();
  for (const { numbers } of yield* mentionsIn(tidy, wordsOf(tidy), keys)) {
    for (const number of numbers) {
      const key = String(keys.nodes.shown(number, false));
      const form = comparable(key);
      const known = spellings.get(form);
      if (known === undefined) spellings.set(form, [folded(key)]);
      else if (!known.includes(folded(key))) known.push(folded(key));
    }
    if (spellings.size >= MOST_KEYS) break;
  }
  const sorted = [...spellings].sort(([a], [b]) => b.length - a.length);
  return { spellings: new Map(sorted), nodes, kindOf: (member) => keys.nodeOf(member).kind };
}

/** Returns the keys of the members of edges, without their kinds, as texts. */
export function keyTexts(
  edges: readonly { readonly members: readonly (number | string)[] }[],
  keys: MemberKeys,
): Map<number | string, string> {
  const texts = new Map<number | string, string>();
  for (const { members } of edges)
    for (const member of members)
      if (typeof member === 'string' && !texts.has(member)) texts.set(member, String(keys.nodeOf(member).key));
  return texts;
}
