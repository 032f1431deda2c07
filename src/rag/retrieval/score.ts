// Scores how well an edge fits a question. The score is a weighted mean of parts; the parts and the
// score are from 0 to 1. The same edge in the same table always gets the same score.

/**
 * Weights of the parts of a score:
 *
 * - members: the share of the named nodes that are in the edge
 * - keywords: the share of the keywords that are in the edge's texts
 * - recency: linear in time, from 0 for the oldest edge in the table to 1 for the newest
 * - weight: w / (1 + w) for the edge's weight w, or 0 if w is null or negative
 *
 * If the text names no node, the part for members is left out. If it has no keyword, the part for
 * keywords is left out.
 */
export const PART_WEIGHTS = { members: 0.4, keywords: 0.3, recency: 0.25, weight: 0.05 } as const;

/** Weights of the parts for one question, which sum to 1, and the time range of the table. */
export interface ScoreScale {
  readonly members: number;
  readonly keywords: number;
  readonly recency: number;
  readonly weight: number;
  /** Time of the oldest edge in the table. */
  readonly oldest: number;
  /** Time of the newest edge in the table. */
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

/** Returns the part of a score for an edge's weight. NaN represents null. */
export function weightPart(weight: number): number {
  return weight > 0 ? (weight === Infinity ? 1 : weight / (1 + weight)) : 0;
}

/** Returns the score of an edge. `members` and `keywords` are shares from 0 to 1. */
export function scoreOf(scale: ScoreScale, members: number, keywords: number, eventTs: number, weight: number): number {
  return (
    scale.members * members +
    scale.keywords * keywords +
    scale.recency * recencyOf(scale, eventTs) +
    scale.weight * weightPart(weight)
  );
}

/** Upper bound for the rounding error in a sum of a few parts. */
const ROUNDING = 1e-12;

/**
 * Returns the least weight with which an edge can reach a score, if its other parts are at most the
 * given ones. Returns -Infinity if any weight suffices, and Infinity if no weight does.
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
  // The result is rounded down, because reading one edge too many does no harm.
  return part >= 1 ? Number.POSITIVE_INFINITY : (part / (1 - part)) * (1 - 1e-9);
}

/**
 * Returns approximately the least time at which an edge without weight reaches a score, if its
 * other parts are the given ones. Returns -Infinity if any time suffices.
 */
export function leastTime(scale: ScoreScale, score: number, members: number, keywords: number): number {
  const recency = (score - scale.members * members - scale.keywords * keywords) / scale.recency;
  return recency <= 0 ? Number.NEGATIVE_INFINITY : Math.floor(scale.oldest + recency * (scale.newest - scale.oldest));
}
