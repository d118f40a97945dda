import { z } from '@hono/zod-openapi'

const columnNames = [
  'id',
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'locale',
  'date_joined',
  'last_seen',
  'consent_status',
] as const
export type ExportColumn = (typeof columnNames)[number]

const isColumn = (name: string): name is ExportColumn => (columnNames as readonly string[]).includes(name)

export const exportColumns = z
  .string()
  .optional()
  .transform((text, context): readonly ExportColumn[] => {
    if (text === undefined) return columnNames
    const asked = [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
    const known = asked.filter(isColumn)
    if (known.length === asked.length && known.length) return known
    context.addIssue({
      code: 'custom',
      params: { code: 'invalid_choice' },
      message: `Of ${columnNames.join(', ')}.`,
    })
    return z.NEVER
  })
  .openapi({
    type: 'array',
    items: { type: 'string', enum: [...columnNames] },
    minItems: 1,
    param: { style: 'form', explode: false },
    description: `Columns separated by commas, in this order: of ${columnNames.join(', ')}. All by default.`,
    example: ['id', 'email', 'consent_status'],
  })
