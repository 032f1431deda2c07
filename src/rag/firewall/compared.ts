// Determines whether anything in a sentence was compared with what it cites. A sentence without
// values, names and words of the cited edges passes all checks, because there is nothing to check.

import { repeatedIn } from './claims.ts';
import { type Support, valuesOf } from './edge-values.ts';
import { folded } from './lookalikes.ts';
import { denialsIn } from './negation.ts';
import { cutAtTags, type Tag } from './tags.ts';
import { repeatsWord, saysTimeOfDay } from './told.ts';

/** Returns whether a sentence that passed the checks repeats or denies something cited. */
export function comparesSomething(sentence: string, tags: readonly Tag[], support: Support): boolean {
  const values = valuesOf(tags, support);
  const text = folded(cutAtTags(sentence).texts.join(' '));
  const repeated = repeatedIn(text, {
    beside: values,
    sentence: values,
    derives: () => false,
    isValue: () => false,
    keyed: support.keyed,
  });
  if (typeof repeated === 'string' || repeated.claims.length > 0) return true;
  return denialsIn(repeated.masked).length > 0 || saysTimeOfDay(text) || repeatsWord(text, values.told());
}
