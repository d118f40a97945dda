/** Dates, amounts, numbers and languages are not longer. Longer cells are not searched. */
export const maxParsedLength = 100
