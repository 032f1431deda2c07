// Reads page after page by their cursors.

/**
 * Yields the first page and all pages that follow. `read` receives the cursor from the previous
 * page; for the first page it receives no cursor.
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
