import type { Words } from '../en'

export const dataImports: Words['dataImports'] = {}
