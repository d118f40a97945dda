import type { Words } from '../en'

export const refunds: Words['refunds'] = {}
