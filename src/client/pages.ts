// Goes from page to page by their cursors.

/**
 * The first page and all that follow it. `read` is given the cursor of the page before, nothing for
 * the first one.
 */
export async function* pagesOf<T extends { next_cursor: string | null }>(
  read: (cursor: { cursor?: string }) => Promise<T>,
): AsyncGenerator<T, void, undefined> {
  let page = await read({});
  yield page;
  while (page.next_cursor !== null) {
    page = await read({ cursor: page.next_cursor });
    yield page;
  }
}
