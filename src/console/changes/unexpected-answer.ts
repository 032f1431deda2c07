// The error for an answer that is not of the service, or not what the page expects.

/** A TypeError without a message of ours: `sentenceOf` describes it. */
export class UnexpectedAnswer extends TypeError {}
