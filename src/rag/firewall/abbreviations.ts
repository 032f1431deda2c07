// Abbreviations whose full stop does not end a sentence.

/** These are always followed by more of the sentence. */
const INSIDE = `
  e.g i.e e.g. vs cf approx ca c dr mr mrs ms prof sr jr st mt no nos nr fig figs eq vol ch sec pp ed eds resp est incl excl viz al max min avg temp lat lon
  z.b d.h u.a bzw ggf vgl sog inkl ca abb bspw zzgl evtl nr std hr fr
  p.ex env av apr m mme mlle art
  sra srta ud uds pág núm p.ej aprox
  т.е т.к им ул г.г напр см
`;
/** These may also end a sentence, in which case the next one begins with a capital. */
const INSIDE_OR_LAST = `
  etc a.m p.m u.s u.k e.u inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
  usw etc u.s.w т.д т.п г sek min utc
`;

const inside = new Set(INSIDE.split(/\s+/).filter(Boolean));
const insideOrLast = new Set(INSIDE_OR_LAST.split(/\s+/).filter(Boolean));

/**
 * Whether the full stop after `word` leaves the sentence open; undefined for words that are not
 * abbreviations. `capital`: the text after it begins with a capital or a number.
 */
export function staysOpen(word: string, capital: boolean): boolean | undefined {
  const lower = word.toLowerCase();
  if (insideOrLast.has(lower)) return !capital;
  return inside.has(lower) ? true : undefined;
}
