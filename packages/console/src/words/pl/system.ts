import type { Words } from '../en'

export const system: Words['system'] = {}
