/**
 * Stands for the orders and offsets of stacks in the build, where the bars of `@visx/shape` import them: ours
 * stand on each other from zero up, in the order of the legend, and ask for none of them.
 */

/** Throws: what another kind of stack would need. */
export default function leftOut(): never {
  throw new Error('The build leaves other orders and offsets of stacks out: see plain-stacks.ts.');
}
