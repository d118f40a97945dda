import type { Words } from '../en'

export const catalogue: Words['catalogue'] = {}
