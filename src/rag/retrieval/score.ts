// How well an edge fits a question, 0 to 1: a weighted mean of its parts, each 0 to 1. The same edge in the same table always has the same score.

/**
 * What the parts weigh. Members: the share of the named nodes that the edge holds. Keywords: the share of the keywords that its texts hold. Recency: 1 for the
 * newest edge of the table, 0 for its oldest, by time between. Weight: w / (1 + w), 0 for none and below 0. A part that the text says nothing about does not
 * count: members without a named node, keywords without a keyword.
 */
export const PART_WEIGHTS = { members: 0.4, keywords: 0.3, recency: 0.25, weight: 0.05 } as const;

/** The scale of one question on one table. */
export interface ScoreScale {
  readonly members: number;
  readonly keywords: number;
  readonly recency: number;
  readonly weight: number;
  /** Times of the table's ends. */
  readonly oldest: number;
  readonly newest: number;
}

export function scaleOf(hasNodes: boolean, hasKeywords: boolean, oldest: number, newest: number): ScoreScale {
  const members = hasNodes ? PART_WEIGHTS.members : 0;
  const keywords = hasKeywords ? PART_WEIGHTS.keywords : 0;
  const sum = members + keywords + PART_WEIGHTS.recency + PART_WEIGHTS.weight;
  return {
    members: members / sum,
    keywords: keywords / sum,
    recency: PART_WEIGHTS.recency / sum,
    weight: PART_WEIGHTS.weight / sum,
    oldest,
    newest,
  };
}

export function recencyOf({ oldest, newest }: ScoreScale, eventTs: number): number {
  return newest === oldest ? 1 : (eventTs - oldest) / (newest - oldest);
}

/** Null is NaN. */
export function weightPart(weight: number): number {
  return weight > 0 ? (weight === Infinity ? 1 : weight / (1 + weight)) : 0;
}

/** `members` and `keywords`: shares. */
export function scoreOf(scale: ScoreScale, members: number, keywords: number, eventTs: number, weight: number): number {
  return (
    scale.members * members +
    scale.keywords * keywords +
    scale.recency * recencyOf(scale, eventTs) +
    scale.weight * weightPart(weight)
  );
}

/** Sums of a few parts differ by less, however they are rounded. */
const ROUNDING = 1e-12;

/**
 * The least weight with which an edge can reach a score, when its other parts are at most these: -Infinity when any does, Infinity when none can.
 */
export function leastWeight(
  scale: ScoreScale,
  score: number,
  members: number,
  keywords: number,
  latest: number,
): number {
  const others = scoreOf(scale, members, keywords, latest, 0);
  const part = (score - others - ROUNDING) / scale.weight;
  if (part <= 0) return Number.NEGATIVE_INFINITY;
  // Rounded down: one edge too many does no harm.
  return part >= 1 ? Number.POSITIVE_INFINITY : (part / (1 - part)) * (1 - 1e-9);
}

/** The least time, about, with which an edge without weight reaches a score, when its other parts are these; -Infinity where any does. */
export function leastTime(scale: ScoreScale, score: number, members: number, keywords: number): number {
  const recency = (score - scale.members * members - scale.keywords * keywords) / scale.recency;
  return recency <= 0 ? Number.NEGATIVE_INFINITY : Math.floor(scale.oldest + recency * (scale.newest - scale.oldest));
}
