export const purchases = {}
