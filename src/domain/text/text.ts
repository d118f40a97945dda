/** False for what the database cannot keep as it is: NUL characters and half surrogate pairs. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** An absolute address of the web: what a link may lead to. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''
