import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages, emailRenditions } from '../../db/schema/email-messages.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { insertWhere } from '../../db/write.ts'
import { listConditions } from '../../domain/email/blocks/conditions.ts'
import { updateFileUrls } from '../../domain/email/blocks/images.ts'
import {
  compile,
  type CompileOptions,
  compilerVersion,
  type Compiled,
  type Message,
} from '../../domain/email/compile.ts'
import { chooseReader } from '../../domain/email/liquid/translations.ts'
import type { Language } from '../../domain/languages.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import type { MessageRow } from './queries.ts'

interface MessageFrame {
  default_language: Language | null
  organization_name: string | null
  edition_name: string | null
  sender_name: string | null
}

type MessageContent = Pick<MessageRow, 'subject' | 'preheader' | 'blocks'>

/** The names that the frame of a message shows, and the language for readers without a translation. */
export const buildCompileOptions = (source: MessageFrame): CompileOptions => ({
  defaultLanguage: source.default_language ?? 'en',
  title: source.edition_name ?? source.organization_name ?? '',
  sender: source.sender_name ?? source.organization_name ?? '',
})

const buildMessage = (source: MessageContent, filesUrl: string): Message => ({
  subject: source.subject,
  preheader: source.preheader,
  blocks: updateFileUrls(source.blocks, filesUrl),
  template: 'modern',
})

const hashMessage = async (frame: MessageFrame, language: Language, message: Message): Promise<string> => {
  const { subject, preheader, blocks } = message
  const content = [
    compilerVersion,
    language,
    JSON.stringify(subject),
    JSON.stringify(preheader),
    JSON.stringify(blocks),
    buildCompileOptions(frame),
  ]
  return toHex(await sha256(JSON.stringify(content)))
}

const sourceFields = {
  subject: emailMessages.subject,
  preheader: emailMessages.preheader,
  blocks: emailMessages.blocks,
  default_language: sql<Language | null>`${editions.default_language}`,
  organization_name: organizations.name,
  edition_name: editions.full_name,
  sender_name: editions.email_sender_name,
  content_hash: emailRenditions.content_hash,
  stored_subject: emailRenditions.subject,
  html: emailRenditions.html,
  text: emailRenditions.text,
}

/**
 * Compiles the message, or reads the stored rendition while nothing has changed. `editionId` is the edition that sends
 * it: messages of the organisation and of the platform get its name, its sender and its default language. Null when the
 * message does not exist.
 */
export async function loadTemplate(
  ctx: Pick<JobCtx, 'db' | 'now' | 'config'>,
  messageId: string,
  language: Language,
  editionId: string | null = null,
): Promise<Compiled | null> {
  const sendingEdition = editionId ?? ''
  const row = await ctx.db.first(
    select(sourceFields)
      .from(emailMessages)
      .leftJoin(editions, sql`${editions.id} = coalesce(${emailMessages.edition_id}, ${editionId})`)
      .leftJoin(
        organizations,
        sql`${organizations.id} = coalesce(${emailMessages.organization_id}, ${editions.organization_id})`,
      )
      .leftJoin(
        emailRenditions,
        and(
          eq(emailRenditions.message_id, emailMessages.id),
          eq(emailRenditions.edition_id, sendingEdition),
          eq(emailRenditions.language, language),
        ),
      )
      .where(eq(emailMessages.id, messageId)),
  )
  if (!row) return null
  const { content_hash, stored_subject, html, text, subject, preheader, blocks, ...frame } = row
  const message = buildMessage({ subject, preheader, blocks }, ctx.config.files.url)
  const hash = await hashMessage(frame, language, message)
  const options = buildCompileOptions(frame)
  if (content_hash === hash) {
    const reader = chooseReader(message, language, options.defaultLanguage)
    return {
      subject: stored_subject ?? '',
      html: html ?? '',
      text: text ?? '',
      links: [],
      language: reader.language,
      conditions: listConditions(blocks),
    }
  }
  const template = compile(message, language, options)
  const rendition = {
    message_id: messageId,
    edition_id: sendingEdition,
    language,
    content_hash: hash,
    subject: template.subject,
    html: template.html,
    text: template.text,
    created_at: ctx.now(),
  }
  // The message may have been deleted meanwhile.
  const stillExists = sql`exists (select 1 from email_messages where id = ${messageId})`
  await ctx.db.all(sql`${insertWhere(emailRenditions, rendition, stillExists)}
    on conflict (message_id, edition_id, language) do update set content_hash = excluded.content_hash,
      subject = excluded.subject, html = excluded.html, text = excluded.text, created_at = excluded.created_at`)
  return template
}
