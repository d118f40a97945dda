import { expressionFields } from './expression-fields.ts'
import { fileFields } from './file-fields.ts'
import { resourceFields } from './resource-fields.ts'
import { valueFields } from './value-fields.ts'

export { expressionFields }

/** The texts of the pages of all codes in `errors[]`. */
export const fieldGuide = { ...valueFields, ...resourceFields, ...fileFields, ...expressionFields } as const

export type FieldCode = keyof typeof fieldGuide
