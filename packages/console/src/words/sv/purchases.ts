import type { Words } from '../en'

export const purchases: Words['purchases'] = {}
