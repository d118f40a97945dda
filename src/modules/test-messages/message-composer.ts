import type { Ctx } from '../../context.ts'
import { toLocalDate } from '../../domain/email/liquid/local-date.ts'
import {
  buildCustomerValues,
  buildSampleContext,
  pickTypeValues,
  type TemplateContext,
} from '../../domain/email/liquid/variables.ts'
import { personalise } from '../../domain/email/personalise.ts'
import { LostRace } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { buildUnsubscribeHeaders } from '../../domain/messaging/mailbox.ts'
import { buildExampleLinks } from '../../domain/messaging/test-messages.ts'
import { loadTemplate, type MessageDetailRow } from '../email-messages/index.ts'
import { chooseFrameSender, loadFrame, type TestComposer, transactionalHeaders } from '../transactional-emails/index.ts'
import type { TestPlace } from './queries.ts'

type Frame = NonNullable<Awaited<ReturnType<typeof loadFrame>>>

/** The edition and the organisation of the message. A template of the organisation shows a sample edition. */
function buildPlaceValues(frame: Frame, language: Language): TemplateContext {
  const { edition_name, start_at, end_at, timezone } = frame
  const organization = { name: frame.organization_name }
  if (edition_name === null || timezone === null) return { organization }
  const formatDay = (at: number | null) => toLocalDate(at, language, timezone, 'day')
  return {
    organization,
    edition: { name: edition_name, start_date: formatDay(start_at), end_date: formatDay(end_at), timezone },
  }
}

/**
 * Creates a function that composes a message for a person, with sample values for what its occasion brings, such as an
 * order. Errors of rendering are thrown.
 */
export async function createMessageComposer(
  ctx: Ctx,
  { id, type }: MessageDetailRow,
  { organization_id, edition_id }: TestPlace,
): Promise<TestComposer> {
  const frame = await loadFrame(ctx, { organization_id, edition_id, user_id: null })
  if (!frame) throw new LostRace('the organisation is gone')
  const sender = chooseFrameSender(ctx, frame)
  return async (requestedLanguage, { person, evaluate }) => {
    const template = await loadTemplate(ctx, id, requestedLanguage, edition_id)
    if (!template) throw new LostRace('the message was deleted meanwhile')
    const { language } = template
    const links = buildExampleLinks(ctx.config.publicUrl, language)
    const context = pickTypeValues(type, {
      ...buildSampleContext(language),
      ...buildPlaceValues(frame, language),
      customer: buildCustomerValues(person, language),
      links,
    })
    const block_conditions = await evaluate(template.conditions)
    const headers = type === 'campaign' ? buildUnsubscribeHeaders(links.unsubscribe) : transactionalHeaders
    return { language, email: { ...sender, ...personalise(template, { ...context, block_conditions }), headers } }
  }
}
