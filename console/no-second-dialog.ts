/**
 * Build-time replacement for the dialog that `cmdk` imports. The palette uses the console's own dialog; a
 * second dialog library would be two thirds of the palette's chunk.
 */

/** Renders nothing; the console never uses cmdk's own dialog. */
export function Root(): null {
  return null;
}

export { Root as Content, Root as Overlay, Root as Portal };
