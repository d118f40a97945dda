import type { Words } from '../en'

export const consents: Words['consents'] = {}
