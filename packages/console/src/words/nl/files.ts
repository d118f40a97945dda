import type { Words } from '../en'

export const files: Words['files'] = {}
