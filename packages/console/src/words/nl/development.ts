import type { Words } from '../en'

export const development: Words['development'] = {}
