// Stands in for @codemirror/language (vite.config.mjs says so): a parser of languages would be half
// of what completion weighs, and statements are read by names.ts.

/**
 * Nothing that the editor uses of its packages asks for any of these: they are named in an import
 * beside what it uses.
 */
function notHere() {
  throw new Error('The editor has no parser of languages.');
}

export {
  notHere as getIndentation,
  notHere as getIndentUnit,
  notHere as IndentContext,
  notHere as indentString,
  notHere as indentUnit,
  notHere as matchBrackets,
  notHere as syntaxTree,
};
