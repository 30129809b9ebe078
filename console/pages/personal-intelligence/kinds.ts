/** The four kinds of items, and the length of an item. */

export const KINDS = ['DURABLE_ROUTINE', 'PREFERENCE_PROFILE', 'CONVERSATION_SUMMARY', 'WORKING_ON'] as const;
export type ItemKind = (typeof KINDS)[number];

/** The kind with this name; undefined if there is none. */
export function kindOf(name: string | undefined): ItemKind | undefined {
  return KINDS.find((kind) => kind === name);
}

/** Maximum length of the text of an item. */
export const TEXT_CHARACTERS_MAX = 600;
