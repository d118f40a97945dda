import type { Ctx } from '../../context.ts'
import { decideUnsubscribe } from '../../domain/email/compile.ts'
import { personalise } from '../../domain/email/personalise.ts'
import { AppError, fieldError, LostRace } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { buildUnsubscribeHeaders } from '../../domain/messaging/mailbox.ts'
import { buildExampleLinks } from '../../domain/messaging/test-messages.ts'
import { loadTemplate } from '../email-messages/index.ts'
import type { TestComposer } from '../transactional-emails/index.ts'
import { hasSegmentRole, notReady } from './checks.ts'
import { type CampaignRow, type ConditionPlace, findConditionPlace } from './delivery/campaign-row.ts'
import { buildListHeader, buildTemplateContext } from './delivery/compose.ts'
import { buildContentContext, listContentLanguages, loadEmailSender } from './delivery/content-snapshot.ts'
import type { LoadedCampaign } from './queries.ts'

function requireMessage({ channel, email_message_id, deleted_message_id, message_id }: CampaignRow): string {
  if (channel !== 'email')
    throw new AppError('sms_test_unavailable', 'Test messages are e-mails, and this campaign sends SMS.')
  if (message_id !== null) return message_id
  const isDeleted = email_message_id !== null || deleted_message_id !== null
  const fault = isDeleted
    ? fieldError(['email_message_id'], 'does_not_exist', 'The message was deleted.')
    : fieldError(['email_message_id'], 'required', 'An e-mail campaign needs a message.')
  throw notReady([fault])
}

interface CampaignTest {
  messageId: string
  /** The languages in which recipients get the campaign. */
  languages: ReadonlySet<Language>
  conditionPlace: ConditionPlace
  compose: TestComposer
}

/**
 * The segment may have moved to the organisation or to another edition since the campaign ended. Whoever has no role there
 * sees which blocks the customers of the campaign's edition get.
 */
const chooseConditionPlace = (ctx: Ctx, row: LoadedCampaign): ConditionPlace =>
  hasSegmentRole(ctx, row)
    ? findConditionPlace(row, row.message_edition_id)
    : { edition_id: row.edition_id, edition_timezone: row.edition_timezone }

/**
 * Creates a function that composes the campaign's present message as a recipient gets it, without a pixel, and with links
 * that count nothing. Errors of rendering are thrown.
 */
export async function createTestComposer(ctx: Ctx, row: LoadedCampaign): Promise<CampaignTest> {
  const messageId = requireMessage(row)
  const segment = { edition_id: row.segment_edition_id, communication_type: row.segment_communication_type }
  const { from, replyTo } = await loadEmailSender(ctx, row)
  const shared = buildContentContext(ctx, row, segment, { from, replyTo })
  const compose: TestComposer = async (language, { person, evaluate }) => {
    const compiled = await loadTemplate(ctx, messageId, language, row.edition_id)
    if (!compiled) throw new LostRace('the message was deleted meanwhile')
    const context = { ...shared, language: compiled.language }
    const { unsubscribe, preferences } = buildExampleLinks(context.public_url, compiled.language)
    const links = { clicks: [], pixel: '', preferences, unsubscribe: context.has_unsubscribe ? unsubscribe : '' }
    const texts = personalise(decideUnsubscribe(compiled, context.has_unsubscribe), {
      ...buildTemplateContext(person, context, links),
      block_conditions: await evaluate(compiled.conditions),
    })
    const headers = { ...buildUnsubscribeHeaders(links.unsubscribe), ...buildListHeader(context) }
    return { language: compiled.language, email: { from, replyTo, ...texts, headers } }
  }
  return { messageId, languages: listContentLanguages(row), conditionPlace: chooseConditionPlace(ctx, row), compose }
}
