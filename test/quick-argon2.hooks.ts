/** Preloaded into the control planes of a house: see quick-argon2.ts. */
import { registerHooks } from 'node:module';

const replacement = new URL('quick-argon2.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@node-rs/argon2' && context.parentURL !== replacement
      ? { url: replacement, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
});
