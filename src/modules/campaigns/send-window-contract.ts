import { z } from '@hono/zod-openapi'
import { weekdays, windowEndPattern, windowStartPattern } from '../../domain/campaigns/send-window.ts'

const timeMessage = 'Must be a time such as 09:00.'

/** Unnamed, because the document would lose the null of a reference that may be null. */
export const SendWindowInput = z
  .object({
    days: z
      .array(z.enum(weekdays))
      .min(1)
      .max(weekdays.length)
      .refine((days) => new Set(days).size === days.length, {
        params: { code: 'repeated' },
        message: 'Each value may occur only once.',
      })
      .openapi({ uniqueItems: true }),
    from: z.string().regex(windowStartPattern, timeMessage).openapi({ example: '09:00' }),
    to: z
      .string()
      .regex(windowEndPattern, timeMessage)
      .openapi({ description: 'Up to 24:00. If it is before `from`, it belongs to the next day.', example: '20:00' }),
  })
  .openapi({
    description:
      'The days and hours in which messages go out, in local time of the edition. Outside them the campaign waits and goes on by itself.',
    example: { days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'], from: '09:00', to: '20:00' },
  })

export const SendWindow = SendWindowInput.openapi('SendWindow')
