import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages, emailRenditions } from '../../db/schema/messaging/email-messages.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { insertWhere } from '../../db/write.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import {
  compile,
  type CompileOptions,
  compilerVersion,
  type Compiled,
  type Message,
} from '../../domain/email/compile.ts'
import { blocksShown } from '../../domain/email/blocks/images.ts'
import { readerFor } from '../../domain/email/liquid/translations.ts'
import type { Language } from '../../domain/languages.ts'
import type { MessageRow } from './queries.ts'

interface MessageFrame {
  default_language: Language | null
  organization_name: string | null
  edition_name: string | null
  sender_name: string | null
}

type MessageContent = Pick<MessageRow, 'subject' | 'blocks'>

/** The names that the frame of a message shows, and the language for readers without a translation. */
export const framing = (source: MessageFrame): CompileOptions => ({
  defaultLanguage: source.default_language ?? 'en',
  title: source.edition_name ?? source.organization_name ?? '',
  sender: source.sender_name ?? source.organization_name ?? '',
})

const messageOf = (source: MessageContent, filesUrl: string): Message => ({
  subject: source.subject,
  blocks: blocksShown(source.blocks, filesUrl),
  template: 'modern',
})

const hashOf = async (frame: MessageFrame, language: Language, { subject, blocks }: Message): Promise<string> => {
  const content = [compilerVersion, language, JSON.stringify(subject), JSON.stringify(blocks), framing(frame)]
  return toHex(await sha256(JSON.stringify(content)))
}

const sourceFields = {
  subject: emailMessages.subject,
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
 * A message in a language, still with its Liquid. A stored rendition is used while nothing has changed; otherwise the
 * message is compiled and stored again. `editionId` is the edition that sends it: its name, its sender and its default
 * language frame messages of the organisation and of the platform. Null when there is no such message.
 */
export async function templateOf(
  ctx: Pick<JobCtx, 'db' | 'now' | 'config'>,
  messageId: string,
  language: Language,
  editionId: string | null = null,
): Promise<Compiled | null> {
  const sending = editionId ?? ''
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
          eq(emailRenditions.edition_id, sending),
          eq(emailRenditions.language, language),
        ),
      )
      .where(eq(emailMessages.id, messageId)),
  )
  if (!row) return null
  const { content_hash, stored_subject, html, text, subject, blocks, ...frame } = row
  const message = messageOf({ subject, blocks }, ctx.config.files.url)
  const hash = await hashOf(frame, language, message)
  const options = framing(frame)
  if (content_hash === hash) {
    const reader = readerFor(message, language, options.defaultLanguage)
    return { subject: stored_subject ?? '', html: html ?? '', text: text ?? '', links: [], language: reader.language }
  }
  const template = compile(message, language, options)
  const rendition = {
    message_id: messageId,
    edition_id: sending,
    language,
    content_hash: hash,
    subject: template.subject,
    html: template.html,
    text: template.text,
    created_at: ctx.now(),
  }
  // The message may be deleted meanwhile.
  const isThere = sql`exists (select 1 from email_messages where id = ${messageId})`
  await ctx.db.all(sql`${insertWhere(emailRenditions, rendition, isThere)}
    on conflict (message_id, edition_id, language) do update set content_hash = excluded.content_hash,
      subject = excluded.subject, html = excluded.html, text = excluded.text, created_at = excluded.created_at`)
  return template
}
