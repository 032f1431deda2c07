// Scores how well an edge fits a question, 0 to 1: a weighted mean of parts that are 0 to 1
// themselves. The same edge in the same table always gets the same score.

/**
 * Weights of the parts. Members: the share of the named nodes that are in the edge. Keywords: the
 * share of the keywords that are in its texts. Recency: linear in time from 0 for the oldest edge
 * of the table to 1 for the newest. Weight: w / (1 + w), and 0 for null or negative weights. Parts
 * that the text says nothing about are left out: members without a named node, keywords without a
 * keyword.
 */
export const PART_WEIGHTS = { members: 0.4, keywords: 0.3, recency: 0.25, weight: 0.05 } as const;

/** The scale for one question on one table. */
export interface ScoreScale {
  readonly members: number;
  readonly keywords: number;
  readonly recency: number;
  readonly weight: number;
  /** Times of the table's oldest and newest edge. */
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

/** NaN stands for null. */
export function weightPart(weight: number): number {
  return weight > 0 ? (weight === Infinity ? 1 : weight / (1 + weight)) : 0;
}

/** `members` and `keywords` are shares. */
export function scoreOf(scale: ScoreScale, members: number, keywords: number, eventTs: number, weight: number): number {
  return (
    scale.members * members +
    scale.keywords * keywords +
    scale.recency * recencyOf(scale, eventTs) +
    scale.weight * weightPart(weight)
  );
}

/** Upper bound for the rounding error of a sum of a few parts. */
const ROUNDING = 1e-12;

/**
 * The least weight with which an edge can reach a score, if its other parts are at most these:
 * -Infinity if any weight suffices, Infinity if none does.
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
  // Rounded down, because reading one edge too many does no harm.
  return part >= 1 ? Number.POSITIVE_INFINITY : (part / (1 - part)) * (1 - 1e-9);
}

/**
 * Approximately the least time at which an edge without weight reaches a score, if its other parts
 * are these; -Infinity if any time suffices.
 */
export function leastTime(scale: ScoreScale, score: number, members: number, keywords: number): number {
  const recency = (score - scale.members * members - scale.keywords * keywords) / scale.recency;
  return recency <= 0 ? Number.NEGATIVE_INFINITY : Math.floor(scale.oldest + recency * (scale.newest - scale.oldest));
}
