/** What a translation must hold: the keys of the English words, each with a text of its own. */

/** The same keys with any text. Languages without a singular leave the `_one` forms out. */
export type Translation<Words> = {
  [Key in keyof Words as Key extends `${string}_one` ? never : Key]: Words[Key] extends string
    ? string
    : Translation<Words[Key]>;
};
