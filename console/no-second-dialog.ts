/**
 * Stands for the dialog that `cmdk` brings along, in the build: the palette stands in ours, and a second kind
 * of dialog would be two thirds of its chunk.
 */

/** Never drawn: nothing of ours asks for the palette that comes with its own dialog. */
export function Root(): null {
  return null;
}

export { Root as Content, Root as Overlay, Root as Portal };
