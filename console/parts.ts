/** Loads the scripts of pages. A script that does not arrive is an error that the error page can repair. */
import { lazyRouteComponent } from '@tanstack/react-router';

/** After this time a script counts as missing: the service may be frozen. */
const ARRIVAL_MS = 12_000;

/** A script of the console did not arrive: the service is down, or a newer release has other scripts. */
export class MissingPart extends Error {}

/** Resolves like `loading`. Throws MissingPart if it fails, or takes too long. */
export function arrive<Part>(loading: Promise<Part>): Promise<Part> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(reject, ARRIVAL_MS);
  });
  return Promise.race([loading, late]).catch((cause: unknown) => {
    throw new MissingPart('A script is missing.', { cause });
  });
}

/** The component of a page whose script loads with its route. */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => arrive(load()), name);
}
