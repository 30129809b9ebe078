/**
 * Build-time replacement for `mdast-util-to-markdown`, which extensions of `remark-gfm` import to write
 * Markdown. The console only reads Markdown.
 */

/** Throws. Stands for the handlers that write tables and lists of tasks. */
function leftOut(): never {
  throw new Error('Markdown is not written. See no-markdown-writer.ts.');
}

/** The handlers that the extensions name. */
export const defaultHandlers = { inlineCode: leftOut, paragraph: leftOut };
