/** Stands for `rehype-raw` in the build: raw HTML in a reply is text, so nothing of ours may parse it. */

/** Throws: a reply's Markdown is shown without this step. */
export default function noRawHtml(): never {
  throw new Error('Raw HTML of a reply is not parsed.');
}
