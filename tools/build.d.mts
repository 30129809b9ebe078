/** What the tests ask of the build. */

export interface Product {
  /** The folder that it is built into, from the root. */
  result: string;
}

/** The products that have to be built again. */
export function findStaleProducts(): Product[];
