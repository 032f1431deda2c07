// Recognises words in an answer that name a field, count something or measure a duration.

const MEMBER =
  'members?|nodes?|vertex|vertices|participants?|entity|entities|mitglied(?:er|ern)?|knoten|nœuds?|noeuds?|membres?|nodos?|miembros?|узел|узла|узлы|узлов|узлам|узлами|участник\\p{L}*|nó|nós|nodi|节点|節點|成员|成員|ノード|メンバー|العقدتان|العقدتين|العقدة|العقد|الأعضاء|नोड|सदस्य|노드';
const EDGE =
  'events?|edges?|hyperedges?|meetings?|encounters?|times|occasions?|interactions?|records?|hedges?|ereignis(?:se|sen)?|kanten?|mal|treffen|événements?|evenements?|arêtes?|fois|rencontres?|eventos?|aristas?|veces|encuentros?|событи\\p{L}*|раза?|встреч\\p{L}*|次|件|个事件|個事件|イベント|回|أحداث|مرات|घटनाए?ँ?|बार';
const FACT = 'facts?|steps?|conclusions?|derivations?|rules?';

/** Fields, and the words that name them before a number. */
const LABELS: readonly [string, RegExp][] = [
  ['member', new RegExp(`^(?:${MEMBER})$`, 'iu')],
  ['weight', /^(?:weights?|gewicht(?:e|s|ung)?|poids|pesos?|вес(?:ом|а)?|权重|權重|重み|الوزن|بوزن|وزن|भार|वज़न)$/iu],
  ['size', /^(?:size|count|größe|taille|tamaño|размер)$/iu],
  ['mean_dist_m', /^(?:mean_dist_m|mean_dist|distances?|dist|abstand|entfernung|distancia|расстояни\p{L}*)$/iu],
  ['event_ts', /^(?:event_ts|timestamp|ts)$/iu],
  ['end_ts', /^(?:end_ts)$/iu],
  ['id', /^(?:edge|hyperedge|event|edge_id|edgeid|id|hedge|kante|arête|arista)$/iu],
  [
    'confidence',
    /^(?:confidence|certainty|konfidenz|sicherheit|confiance|confianza|уверенность\p{L}*|置信度|信頼度)$/iu,
  ],
  ['score', /^scores?$/iu],
  ['step', /^steps?$/iu],
  ['rule', /^rules?$/iu],
];
/** Common or very short words, which do not name a column even if a column has such a name. */
const COMMON =
  /^(?:\p{L}{1,2}|and|the|with|for|from|met|was|were|had|has|have|not|are|but|its|their|into|over|after|before|only|all|both|there|then|when|until|since|between)$/iu;

/**
 * Returns the field that `word`, which precedes a number, names. `close` means that there are no
 * words like "of" between the word and the number.
 */
export function fieldNamed(word: string, close: boolean, hasColumn: (name: string) => boolean): string | undefined {
  if (hasColumn(word.toLowerCase()) && !COMMON.test(word) && !LABELS.some(([name]) => name === word.toLowerCase()))
    return word.toLowerCase();
  for (const [name, words] of LABELS) {
    if (!words.test(word)) continue;
    return close || /^(?:edge_?)?id$/i.test(word) || !/^(?:id|step|rule)$/.test(name) ? name : undefined;
  }
  return undefined;
}

export type Counted = 'members' | 'edges' | 'facts' | 'thing' | undefined;

const ADJECTIVE =
  '(?:distinct|different|other|retrieved|cited|such|more|further|unique|separate|matching|total|shared|common|participating|recorded|stored|derived|above|listed|hyper|hyperedge|event|same|verschiedene|weitere)';
const COUNTED = new RegExp(
  `^[\\s*_-]*(?:(?:of\\s+)?(?:the|these|those|its|their|个|名|つの|つ|個の|人の)?\\s*)?(?:${ADJECTIVE}\\s+){0,2}(?:(${MEMBER})|(${EDGE})|(${FACT}))(?![\\p{L}\\p{N}_])`,
  'iu',
);
const COUNTED_SIGNS = /^\s*(?:(?:个|個|名|つ|人)?の?(?:节点|節點|成员|成員|ノード|メンバー)|(次|件|回|个事件|個事件))/u;

/** Returns what a number counts, judging by the words after it; `thing` for an unknown word. */
export function countedBy(after: string): Counted {
  const signs = COUNTED_SIGNS.exec(after);
  if (signs !== null) return signs[1] === undefined ? 'members' : 'edges';
  const match = COUNTED.exec(after);
  if (match !== null) return match[1] !== undefined ? 'members' : match[2] !== undefined ? 'edges' : 'facts';
  return /^[\s*_-]*\p{L}/u.test(after) ? 'thing' : undefined;
}

/** Returns whether a number counts members, edges or facts, judging by the words after it. */
export function countsCited(after: string): boolean {
  return /^(?:members|edges|facts)$/.test(countedBy(after) ?? '');
}

const DURATIONS = (
  [
    [1, 's|secs?|seconds?|sekunden?|secondes?|segundos?|секунд\\p{L}*|秒'],
    [60, 'min|mins|minutes?|minuten?|minutos?|минут\\p{L}*|分钟|分'],
    [3600, 'h|hrs?|hours?|stunden?|heures?|horas?|час\\p{L}*|小时|時間'],
    [86_400, 'days?|tage?n?|jours?|días?|dias?|дн\\p{L}*|день|天|日間'],
    [604_800, 'weeks?|wochen?|semaines?|semanas?|недел\\p{L}*'],
  ] as const
).map(([seconds, words]) => [seconds, new RegExp(`^[\\s-]*(?:${words})(?![\\p{L}\\p{N}_])`, 'iu')] as const);

/**
 * Returns the length in seconds of the unit of time after a number, or undefined if there is none.
 */
export function durationUnit(after: string): number | undefined {
  return DURATIONS.find(([, words]) => words.test(after))?.[0];
}
