/** The sections of the help page, and the pages that explain more, for the command palette. */

/** The sections, by the id of their element. Their names are texts of `help`. */
export const HELP_SECTIONS = ['addresses', 'keys', 'limits', 'errors'] as const;

/** The texts of `help` that a section consists of, by which it is found. */
export const SECTION_TEXTS = {
  addresses: ['chat', 'chatNote', 'bare', 'bareNote'],
  keys: ['key1', 'key2', 'key3', 'key4'],
  limits: ['limit1', 'limit2', 'limit3'],
  errors: ['errorsNote'],
} as const;
