import type { Words } from '../en'

export const organizations: Words['organizations'] = {}
