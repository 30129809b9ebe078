/** Types of chromium.mjs for the tests. */

/** The path of a Chromium; undefined if there is none. */
export function findChromium(): Promise<string | undefined>;
