// Replaces @codemirror/language in the build (see vite.config.mjs): its language parser would be
// half of the bytes of completion, and the editor does not need it, because names.ts reads the
// statements.

/**
 * Stands for every export, and throws. It is never called: the code that the editor uses from its
 * packages does not call these functions, although the modules of that code import them.
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
