// Recognises texts that tell something, of those of a conversation: a text with a question wants to
// know something, and one that says "you" is mostly about what the other has told before.

const QUESTION = /[?\uff1f\u061f\u2e2e]/u;
const YOU = /\byou(?:r|rs|rself)?\b/i;

/** Returns whether a text has a question, by its marks. */
export function hasQuestion(text: string): boolean {
  return QUESTION.test(text);
}

/** Returns whether an English text addresses somebody. */
export function saysYou(text: string): boolean {
  return YOU.test(text);
}
