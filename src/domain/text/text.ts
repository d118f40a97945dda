/** False for texts that the database cannot store unchanged: NUL characters and half surrogate pairs. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Whether the text is an absolute web address, as links need. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''
