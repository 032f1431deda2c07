// The entry module of text search: texts to terms, queries to parts, and BM25.

export { ANALYZER_VERSION, Analyzer, analyzerOf } from './analyzer.ts';
export { B, idf, K1, Statistics, scoreOf, weight } from './bm25.ts';
export { type Document, documentOf, documentOfTerms } from './document.ts';
export { MAX_TERM_BYTES } from './folding.ts';
export { Matcher } from './matcher.ts';
export {
  MAX_PARTS,
  MAX_PARTS_TERMS,
  MAX_QUERY_LENGTH,
  parseSearch,
  type SearchPart,
  type Sign,
} from './search-query.ts';
export { isLanguage, LANGUAGES, type Language } from './stemming.ts';
export { wordsOf } from './words.ts';
