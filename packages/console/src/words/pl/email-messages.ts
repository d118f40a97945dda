import type { Words } from '../en'

export const emailMessages: Words['emailMessages'] = {}
