import type { Words } from '../en'

export const users: Words['users'] = {}
