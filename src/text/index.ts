// The entry module of text search: texts to terms.

export { ANALYZER_VERSION, Analyzer } from './analyzer.ts';
export { MAX_TERM_BYTES } from './folding.ts';
export { isLanguage, LANGUAGES, type Language } from './stemming.ts';
