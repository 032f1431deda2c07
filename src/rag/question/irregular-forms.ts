// Irregular forms of English words, which no stemmer joins: "Did she run?" is answered by "I ran".
// They are added to the words of a question, never to the terms of an index.
//
// Each line of the table has groups of forms, divided by bars: verbs with their past and what is
// derived from them irregularly, nouns with their plural, small numbers with their digits, months
// and members of a family with their short names.

import { analyzerOf } from '../../text/index.ts';

const GROUPS =
  `arise arose arisen|awake awoke awoken|bear bore borne born birth|become became|begin began begun|bend bent|bind bound|bite bit bitten
  bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen choice
  cling clung|come came|creep crept|deal dealt|die died dying death dead|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven
  dwell dwelt|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|flee fled|fly flew flown flight|forbid forbade forbidden|forget forgot forgotten
  forgive forgave forgiven|freeze froze frozen|give gave given gift|go went gone|grind ground|grow grew grown growth|hang hung|hear heard|hide hid hidden
  hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|lie lay lain|light lit
  lose lost loss|make made|marry marriage|mean meant|meet met|mow mown|pay paid|prove proven proof|ride rode ridden|ring rang rung|rise rose risen|run ran
  see saw seen|seek sought|sell sold sale|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk
  sing sang sung song|sink sank sunk|sit sat|sleep slept|slide slid|sling slung|smell smelt|speak spoke spoken speech|speed sped|spell spelt|spend spent
  spill spilt|spin spun|spit spat|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|stink stank stunk|strike struck|string strung
  strive strove striven|swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told
  think thought|throw threw thrown|tread trod trodden|understand understood|undertake undertook undertaken|undergo underwent undergone|wake woke woken
  wear wore worn|weave wove woven|weep wept|win won|wind wound|withdraw withdrew withdrawn|write wrote written
  calf calves|child children kid kids|foot feet|goose geese|half halves|knife knives|leaf leaves|life lives live|loaf loaves|man men|mouse mice|ox oxen
  person people|scarf scarves|shelf shelves|thief thieves|tooth teeth|wife wives|wolf wolves|woman women|good better best|bad worse worst
  dad daddy father|mum mom mother|grandad grandpa grandfather|gran grandma grandmother|bike bicycle|photo photograph
  two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|ten 10|eleven 11|twelve 12|twenty 20|thirty 30|forty 40|fifty 50|hundred 100
  january jan|february feb|april apr|august aug|september sept|october oct|november nov|december dec`
    .split(/[|\n]/)
    .map((group) => group.trim().split(' '));

/** Forms by the stem of each. */
let byStem: ReadonlyMap<string, readonly string[]> | undefined;

/** Returns the other forms of an English word, as written; none if it is regular. */
export function irregularForms(word: string): readonly string[] {
  const analyzer = analyzerOf('english');
  byStem ??= stems((form) => analyzer.terms(form)[0]!);
  const [stem, second] = analyzer.terms(word);
  return (second === undefined ? byStem.get(stem ?? '') : undefined) ?? [];
}

function stems(stemOf: (form: string) => string): Map<string, string[]> {
  const forms = new Map<string, string[]>();
  for (const group of GROUPS) {
    const own = group.map(stemOf);
    for (const stem of new Set(own)) {
      const others = group.filter((_, place) => own[place] !== stem);
      forms.set(stem, [...(forms.get(stem) ?? []), ...others]);
    }
  }
  return forms;
}
