/** False for what the database cannot keep as it is: NUL characters and half surrogate pairs. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
