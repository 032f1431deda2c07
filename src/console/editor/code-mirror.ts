// Re-exports what the statement editor uses of the editor library's two core packages. Other files
// import it from here.

export {
  Compartment,
  EditorSelection,
  EditorState,
  type Extension,
  findClusterBreak,
  Prec,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state';
export {
  type Command,
  Decoration,
  type DecorationSet,
  EditorView,
  type KeyBinding,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
