// What is typed over a selection is put in its place by the editor: the browser would keep the look of the old text by inline styles, which the policy refuses.

import { EditorView, type Extension } from './code-mirror.ts';

/** Not while an input method composes a character: that is the browser's to show. */
export const typedOver: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const [range] = event.getTargetRanges();
    if (event.inputType !== 'insertText' || event.isComposing || !event.data || range === undefined) return false;
    const { startContainer: start, endContainer: end } = range;
    if (!view.contentDOM.contains(start) || !view.contentDOM.contains(end)) return false;
    const from = view.posAtDOM(start, range.startOffset);
    const to = view.posAtDOM(end, range.endOffset);
    if (from >= to) return false;
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    event.preventDefault();
    return true;
  },
});
