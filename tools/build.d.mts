/** Types of build.mjs for the tests. */

export interface Product {
  /** Output folder, relative to the root. */
  result: string;
}

/** The products whose inputs have changed. */
export function findStaleProducts(): Product[];
