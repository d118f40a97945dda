import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { presentEmailState } from '../transactional-emails/index.ts'
import type { TestMessages } from './contract.ts'
import type { SentTest } from './send.ts'

export const presentTest = ({ rows, remaining }: SentTest, ctx: Ctx): z.input<typeof TestMessages> => ({
  emails: rows.map(({ state, ...row }) => ({ ...row, ...presentEmailState(state, ctx) })),
  remaining,
})

/** The audit entry of a test: to whom it went, and whose data it shows. */
export const describeTest = ({ recipients, languages, user_id }: SentTest) => ({
  before: {},
  after: { recipients, languages, user_id },
})
