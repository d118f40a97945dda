/** False for texts that the database cannot store unchanged: NUL characters and half surrogate pairs. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The word of the list that the text is; null for another text. */
export const findWord = <Word extends string>(words: readonly Word[], text: string | null): Word | null =>
  words.find((word) => word === text) ?? null

/** Whether the text is an absolute web address, as links need. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''
