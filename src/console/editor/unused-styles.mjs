// Removes from the style sheet of @codemirror/view the rules of the parts that the editor does not
// use. This saves about a kilobyte in each page.

const UNUSED =
  /cm-(layer|selectionBackground|selectionLayer|cursor|dropCursor|selectionHandle|blink|iso\b|activeLine|specialChar|gutter|panel|lineNumbers|highlight|trailingSpace|button|textfield|dialog)/;
/** An entry of the sheet: a selector, and its rules up to the brace at the same indentation. */
const ENTRY = /^ {4}"([^"]+)": \{(?:.*\},?|\n(?: {8}.*\n)* {4}\},?)$/gm;
const SHEET = /const baseTheme\$1 = [^{]*\{\n[\s\S]*?\n\}, /;

export const withoutUnusedStyles = {
  name: 'without-unused-styles',
  transform: (code, id) => {
    if (!/@codemirror.view.dist.index\.js/.test(id)) return undefined;
    let count = 0;
    const sparse = code.replace(SHEET, (sheet) =>
      sheet.replace(ENTRY, (entry, selector) => {
        if (!UNUSED.test(selector)) return entry;
        count += 1;
        return '';
      }),
    );
    if (count < 20) throw new Error('The style sheet of @codemirror/view has another form now; change unused-styles.mjs.');
    return { code: sparse, map: null };
  },
};
