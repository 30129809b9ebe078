/**
 * Build-time replacement for `tailwind-merge`, which `streamdown` imports to drop classes that contradict
 * each other. The console passes no classes to that library, so that nothing contradicts. The package would
 * be a tenth of the Markdown renderer.
 */

/** Returns the classes unchanged. */
export function twMerge(classes: string): string {
  return classes;
}
