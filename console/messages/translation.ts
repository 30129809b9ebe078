/** The type of a translation: the keys of the English texts, with any text. */

/** Languages without a singular form leave the `_one` keys out. */
export type Translation<Words> = {
  [Key in keyof Words as Key extends `${string}_one` ? never : Key]: Words[Key] extends string
    ? string
    : Translation<Words[Key]>;
};
