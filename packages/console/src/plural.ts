/** The forms of a text by number. `#` stands for the number. Texts are `as Plural`, because languages have other forms. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }
