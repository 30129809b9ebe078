/** Build-time replacement for `rehype-raw`: raw HTML in a reply is shown as text and never parsed. */

/** Throws; replies are rendered without this plugin. */
export default function noRawHtml(): never {
  throw new Error('Raw HTML is not parsed. See no-raw-html.ts.');
}
