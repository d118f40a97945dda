import type { Words } from '../en'

export const auditLog: Words['auditLog'] = {}
