import type { Words } from '../en'

export const editions: Words['editions'] = {}
