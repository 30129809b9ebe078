/**
 * Build-time replacement for the stack orders and offsets that `@visx/shape` imports. The console's bars are
 * stacked from zero, in the order of the legend, and use none of them.
 */

/** Throws. Stands for every stack order and offset. */
export default function leftOut(): never {
  throw new Error('Stack orders and offsets are not in the build. See plain-stacks.ts.');
}
