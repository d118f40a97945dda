import { z } from '@hono/zod-openapi'
import { transactionalEmailStatuses } from '../../domain/messaging/transactional-emails.ts'
import { Timestamp, waitingFields } from '../../http/fields.ts'

/** The fields of a resource that tell whether an e-mail was sent. */
export const emailStateFields = {
  status: z.enum(transactionalEmailStatuses),
  error_code: z.string().nullable().openapi({
    description: 'Why the latest attempt failed, such as `provider_not_configured`. Null after a success.',
  }),
  ...waitingFields,
  sent_at: Timestamp.nullable().openapi({ description: 'Null until the provider accepts the e-mail.' }),
  created: Timestamp,
}
