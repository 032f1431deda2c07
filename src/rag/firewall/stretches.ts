// Decides which part of a sentence belongs to which of its tags.

import { folded } from './lookalikes.ts';
import type { Tag, TaggedSentence } from './tags.ts';

/** A text and the tags that it must agree with. */
export interface Part {
  readonly text: string;
  readonly tags: readonly Tag[];
}

/**
 * The possible readings of a stretch of a sentence. At least one reading must be right: all its
 * parts agree with their tags.
 */
type Options = readonly (readonly Part[])[];

const MOST_CUTS = 8;
const VALUE =
  /\p{N}|["\u201c\u201e\u00ab`\u300c]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|twice)\b/iu;
const CUT = /[,;:\u3001\uff0c\uff1b]|\s(?:and|but|while|whereas|then|und|et|y|и)\s/giu;

/**
 * Returns the stretches of a sentence, each with its possible readings.
 *
 * - One group of tags: the whole sentence belongs to it.
 * - The sentence ends with a tag ("A [1], B [2]."): a clause belongs to the tag that follows it.
 * - It begins with a tag and ends with a clause ("[1] shows A, [2] shows B."): a clause belongs to
 *   the tag before it.
 * - It begins and ends with a clause ("A [1], B [2], C."): a clause in between may belong to either
 *   tag, or be cut in two.
 */
export function stretchesOf({ texts, groups }: TaggedSentence): Options[] {
  const tags = groups.map((group, index) => withNeighbour(group.tags, groups[index - 1]?.tags ?? groups[1]?.tags));
  const last = tags.length - 1;
  if (last === 0) return [single(`${texts[0]!} ${texts[1]!}`, tags[0]!)];
  const leads = VALUE.test(folded(texts[0]!));
  const trails = VALUE.test(folded(texts[last + 1]!));
  const stretches = [single(texts[0]!, tags[0]!), single(texts[last + 1]!, tags[last]!)];
  for (let index = 1; index <= last; index++) {
    const text = texts[index]!;
    const [before, after] = [tags[index - 1]!, tags[index]!];
    const ownsNext = !trails && (leads || index > 1 || !isOpening(texts[0]!));
    if (ownsNext) stretches.push(single(text, after));
    else if (!trails) stretches.push(single(text, [...before, ...after]));
    else {
      const cuts = leads || index > 1 ? cutInTwo(text, before, after) : [];
      stretches.push([...(leads ? single(text, after) : []), ...single(text, before), ...cuts]);
    }
  }
  return stretches;
}

function single(text: string, tags: readonly Tag[]): Options {
  return [[{ text, tags }]];
}

/**
 * Adds a neighbouring group of tags to a group that only consists of rules. A rule has no values
 * from edges, so the text next to it may repeat values of the neighbouring tags.
 */
function withNeighbour(tags: readonly Tag[], neighbour: readonly Tag[] | undefined): readonly Tag[] {
  return neighbour !== undefined && tags.every((tag) => tag.kind === 'RULE') ? [...tags, ...neighbour] : tags;
}

/** Returns whether a text is a few words that only introduce a tag: "By", "According to". */
function isOpening(text: string): boolean {
  return (text.match(/[\p{L}\p{M}]+/gu) ?? []).length <= 3 && OPENING.test(text);
}

const OPENING =
  /^[\s*_"'(]*(?:(?:by|per|from|in|under|using|applying|according|given|with|based|since|as|for|see|at|on|nach|laut|gemäß|aus|selon|d'après|par|según|por|de|по|согласно|из|в)(?![\p{L}])|根据|根據|依|按|によると|وفق|$)/iu;

function cutInTwo(text: string, before: readonly Tag[], after: readonly Tag[]): Options {
  return Array.from(text.matchAll(CUT), ({ index }) => [
    { text: text.slice(0, index), tags: before },
    { text: text.slice(index), tags: after },
  ]).slice(0, MOST_CUTS);
}
